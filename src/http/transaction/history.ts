import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { historyPage, historyQuery, historySchema, pageOf } from '#http/encode/history.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { vaultStubOf } from '#http/transaction/transaction-path.ts';
import { vaultOfTransaction } from '#domain/id.ts';
import { historyLines } from '#store/audit.ts';

/**
 * GET /transaction/{txId}/history: returns every step of a transaction, oldest first, with its
 * actor, access token, client address, time and digest. The entries belong to the hash chain of the
 * whole vault, which `GET /vault/{vaultId}/history` returns.
 */
export const transactionHistory = route({
  method: 'GET',
  path: '/transaction/:txId/history',
  access: 'read',
  summary: 'List the steps of a transaction, oldest first',
  query: historyQuery,
  answer: { status: 200, schema: historySchema },
  refuses: ['forbidden', 'transaction-not-found'],
  handle: readHistory,
});

async function readHistory(
  context: HttpContext,
  { params: { txId: id }, query }: Input<{ params: 'txId'; query: typeof historyQuery }>,
): Promise<Response> {
  const { after, limit } = pageOf(query);
  const actor = actorOf(context);
  const found = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.execute(actor, { type: 'flushRecord', id }),
  );
  if (!found.ok) return refusalProblem(context, found.refusal);
  const lines = { vaultId: vaultOfTransaction(id), transactionId: id, after, limit: limit + 1 };
  return context.json(historyPage(await historyLines(context.env.DB, lines), limit));
}
