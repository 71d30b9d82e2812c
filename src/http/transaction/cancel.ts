import type { HttpContext } from '#http/context.ts';
import { actorOf, route } from '#http/context.ts';
import { askObject } from '#http/object-call.ts';
import { refusalProblem } from '#http/problem.ts';
import { recordOf, transactionIdOf, vaultObjectOf } from '#http/transaction/view.ts';
import { transactionAnswer } from '#http/transaction/record-schema.ts';

/**
 * POST /transaction/{txId}/cancel (ours): whoever created a pending transaction takes it back, or an admin of the vault does; so does
 * any signer while it waits to be mined. Then the wallet pays nothing to itself at the same nonce, within the fee that was approved:
 * `stateReason` is CANCELLING, and the chain decides which of the two it takes, CANCELLED or SUCCEEDED. Again it is 200 and
 * changes nothing.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `transaction-not-found`, `transaction-not-pending`.
 */
export const cancel = route({
  method: 'POST',
  path: '/transaction/:txId/cancel',
  access: 'write',
  summary: 'takes a pending transaction back, or the nonce of one that waits to be mined',
  answer: transactionAnswer(200),
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-pending'],
  handle: cancelTransaction,
});

async function cancelTransaction(context: HttpContext): Promise<Response> {
  const id = transactionIdOf(context);
  if (id instanceof Response) return id;
  const actor = actorOf(context);
  const cancelled = await askObject(
    () => vaultObjectOf(context, id),
    (vault) => vault.cancel(actor, id),
  );
  return cancelled.ok ? context.json(recordOf(context, cancelled.value)) : refusalProblem(context, cancelled.refusal);
}
