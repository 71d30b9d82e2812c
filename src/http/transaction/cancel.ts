import * as z from 'zod';
import { COIN_UNKNOWN } from '#domain/transaction/job.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { actorOf, route } from '#http/edge/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { optionalBodyOf } from '#http/edge/request-check.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { recordOf, transactionIdOf, vaultStubOf } from '#http/transaction/transaction-path.ts';
import { transactionAnswer } from '#http/transaction/record-schema.ts';

const cancelBody = z.strictObject({
  acknowledge: z.literal(COIN_UNKNOWN).meta({
    description:
      'Ends a transaction with this stateReason, which may be mined all the same: cancel it without this first, and ' +
      'do not pay again while another end is possible',
  }),
});

/**
 * POST /transaction/{txId}/cancel (ours): whoever created a pending transaction takes it back, or an admin of the vault does; so does
 * any signer while it waits to be mined. Then the wallet pays nothing to itself at the same nonce, within the fee that was approved:
 * `stateReason` is CANCELLING, and the chain decides which of the two it takes, CANCELLED or SUCCEEDED. Again it is 200 and
 * changes nothing.
 *
 * On Bitcoin a transaction with the `stateReason` COIN_UNKNOWN may spend a coin that does not exist, and then no cancellation is ever mined
 * either. With `acknowledge` it ends as FAILED at once, for people alone: should the coin come back it may still be mined, so nobody can be
 * sure that a second payment is not paid twice. It is looked for under its hashes for 14 days, keeps its coins meanwhile, and becomes
 * SUCCEEDED when it is found.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `transaction-not-found`, `transaction-not-pending`, `coin-not-unknown`
 * (of an acknowledgement of what is not so).
 */
export const cancel = route({
  method: 'POST',
  path: '/transaction/:txId/cancel',
  access: 'write',
  summary: 'takes a pending transaction back, or the nonce of one that waits to be mined',
  optionalBody: cancelBody,
  answer: transactionAnswer(200),
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-pending', 'coin-not-unknown'],
  handle: cancelTransaction,
});

async function cancelTransaction(context: HttpContext): Promise<Response> {
  const id = transactionIdOf(context);
  if (id instanceof Response) return id;
  const actor = actorOf(context);
  const endsUnknown = (await optionalBodyOf(context, cancelBody)) !== null;
  const cancelled = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.cancel(actor, id, endsUnknown),
  );
  return cancelled.ok ? context.json(recordOf(context, cancelled.value)) : refusalProblem(context, cancelled.refusal);
}
