import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { vaultCredentialResetRecord, vaultCredentialResetSchema } from '#http/encode/credential-reset.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const listSchema = z
  .strictObject({
    data: z.array(vaultCredentialResetSchema),
    nextCursor: z.null().meta({ description: 'Only the newest resets are listed; the history contains the others' }),
  })
  .meta({ id: 'VaultCredentialResetList' });

/**
 * GET /vault/{vaultId}/credential-reset: returns the credential resets of the members of the vault,
 * newest first.
 */
export const listCredentialResets = route({
  method: 'GET',
  path: '/vault/:vaultId/credential-reset',
  access: 'read',
  summary: 'List credential resets of members, newest first',
  answer: { status: 200, schema: listSchema },
  refuses: ['forbidden'],
  handle: list,
});

async function list(context: HttpContext, { params: { vaultId } }: Input<{ params: 'vaultId' }>): Promise<Response> {
  const actor = actorOf(context);
  const read = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'readCredentialResets', id: null }),
  );
  if (!read.ok) return refusalProblem(context, read.refusal);
  const data = read.value.map((reset) => vaultCredentialResetRecord(reset, vaultId));
  return context.json({ data, nextCursor: null });
}
