import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { plainText } from '#http/encode/plain-text.ts';
import { respondWithChange } from '#http/vault/policy-change/decision.ts';
import { policyChangeSchema } from '#http/encode/policy-change.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const renewalBody = z.strictObject({ note: plainText(500).nullish() });

/**
 * POST /vault/{vaultId}/policy/{version}/renewal: proposes a new mandate for an adopted policy
 * whose mandate has expired. A signer or an admin proposes. The signers of the version before it
 * decide, as they did for the adoption. The policy itself does not change. A repeated request gives
 * the same change.
 */
export const renewMandate = route({
  method: 'POST',
  path: '/vault/:vaultId/policy/:version/renewal',
  access: 'write',
  scope: 'approve',
  summary: 'Propose a new mandate for a policy whose mandate has expired',
  optionalBody: renewalBody,
  answer: { status: 201, schema: policyChangeSchema },
  refuses: [
    'forbidden',
    'policy-version-not-found',
    'mandate-in-force',
    'founding-incomplete',
    'too-many-policy-changes',
    'too-many-own-policy-changes',
  ],
  handle: renew,
});

async function renew(
  context: HttpContext,
  { params: { vaultId, version }, body }: Input<{ params: 'vaultId' | 'version'; optionalBody: typeof renewalBody }>,
): Promise<Response> {
  const note = body?.note ?? null;
  const renewed = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.execute(actorOf(context), { type: 'renewMandate', version, note }),
  );
  return respondWithChange(context, renewed, 201);
}
