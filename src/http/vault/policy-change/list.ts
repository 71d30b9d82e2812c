import * as z from 'zod';
import { chainsFrom } from '#chains/families/registry.ts';
import { parsePolicyChangeId } from '#domain/id.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { pageOf } from '#http/edge/page.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { policyChangeRecord, policyChangeSchema } from '#http/encode/policy-change.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const PAGE = 20;

const listQuery = z.strictObject({
  cursor: z
    .string()
    .max(64)
    .refine((text) => parsePolicyChangeId(text) !== null, 'Must be a cursor of this list.')
    .optional(),
});

const listSchema = z
  .strictObject({ policyChanges: z.array(policyChangeSchema), nextCursor: z.string().nullable() })
  .meta({ id: 'PolicyChangeList' });

/**
 * GET /vault/{vaultId}/policy-change: returns every policy change that was ever proposed, newest
 * first.
 */
export const listPolicyChanges = route({
  method: 'GET',
  path: '/vault/:vaultId/policy-change',
  access: 'read',
  byDevice: true,
  summary: 'List policy changes, newest first',
  query: listQuery,
  answer: { status: 200, schema: listSchema },
  refuses: ['forbidden'],
  handle: list,
});

async function list(
  context: HttpContext,
  { params: { vaultId }, query }: Input<{ params: 'vaultId'; query: typeof listQuery }>,
): Promise<Response> {
  const { cursor } = query;
  const before = cursor === undefined ? null : parsePolicyChangeId(cursor);
  const actor = actorOf(context);
  const read = await callObject(
    () => vaultStub(context.env, vaultId),
    // One extra row shows whether there is another page.
    (vault) => vault.query(actor, { type: 'policyChanges', before, limit: PAGE + 1 }),
  );
  if (!read.ok) return refusalProblem(context, read.refusal);
  const { shown, nextCursor } = pageOf(read.value, PAGE, ({ change }) => change.id);
  const chains = chainsFrom(context.env);
  return context.json({ policyChanges: shown.map((view) => policyChangeRecord(view, chains)), nextCursor });
}
