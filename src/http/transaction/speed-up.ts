import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { recordOf, vaultStubOf } from '#http/transaction/transaction-path.ts';
import { transactionAnswer } from '#http/encode/transaction-schema.ts';

/**
 * POST /transaction/{txId}/speed-up: sends another attempt at the same account nonce, whose fee is
 * at least an eighth higher and within the approved fee. At most one of the attempts is mined.
 * While such an attempt is pending, the request gives 200 and changes nothing.
 */
export const speedUp = route({
  method: 'POST',
  path: '/transaction/:txId/speed-up',
  access: 'write',
  scope: 'create',
  summary: 'Raise the fee of an unmined transaction',
  answer: transactionAnswer(200),
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-broadcast'],
  handle: speedUpTransaction,
});

async function speedUpTransaction(
  context: HttpContext,
  { params: { txId: id } }: Input<{ params: 'txId' }>,
): Promise<Response> {
  const actor = actorOf(context);
  const answer = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.execute(actor, { type: 'speedUp', id }),
  );
  return answer.ok ? context.json(recordOf(context, answer.value)) : refusalProblem(context, answer.refusal);
}
