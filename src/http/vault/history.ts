import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { historyPage, historyQuery, historySchema, pageOf } from '#http/encode/history.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { historyLines } from '#store/audit.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/**
 * GET /vault/{vaultId}/history: returns the hash-chained history of a vault, oldest first. Save its
 * pages and run `npm run conclave -- verify-history FILE...` to verify that no entry was removed,
 * inserted, changed or reordered.
 */
export const vaultHistory = route({
  method: 'GET',
  path: '/vault/:vaultId/history',
  access: 'read',
  summary: 'List the hash-chained history of a vault, oldest first',
  query: historyQuery,
  answer: { status: 200, schema: historySchema },
  refuses: ['forbidden'],
  handle: readHistory,
});

async function readHistory(
  context: HttpContext,
  { params: { vaultId }, query }: Input<{ params: 'vaultId'; query: typeof historyQuery }>,
): Promise<Response> {
  const { after, limit } = pageOf(query);
  const actor = actorOf(context);
  const entered = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'projectedScope' }),
  );
  if (!entered.ok) return refusalProblem(context, entered.refusal);
  const lines = { vaultId, transactionId: null, after, limit: limit + 1 };
  return context.json(historyPage(await historyLines(context.env.DB, lines), limit));
}
