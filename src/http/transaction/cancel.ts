import * as z from 'zod';
import { UNKNOWN_END_REASONS } from '#domain/transaction/job.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { actorOf, route } from '#http/edge/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { optionalBodyOf } from '#http/edge/request-check.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { recordOf, transactionIdOf, vaultStubOf } from '#http/transaction/transaction-path.ts';
import { transactionAnswer } from '#http/transaction/record-schema.ts';

const cancelBody = z.strictObject({
  acknowledge: z.enum(UNKNOWN_END_REASONS).meta({
    description:
      'Ends a transaction in BROADCAST with this stateReason, although it may still be mined. Cancel it without ' +
      'this field first, and ' +
      'do not pay again while another outcome is possible.',
  }),
});

/**
 * POST /transaction/{txId}/cancel: cancels a transaction. Its creator or an admin of the vault can
 * cancel it; while it waits to be mined, any signer can as well. The wallet then signs a payment of
 * zero to itself at the same nonce, within the approved fee. `stateReason` is CANCELLING, and the
 * chain includes one of the two: CANCELLED or SUCCEEDED. A repeated request gives 200 and changes
 * nothing.
 *
 * A transaction in BROADCAST may have an end that no RPC node shows, so that no cancellation ends
 * it. On Bitcoin, it may spend a UTXO that does not exist (COIN_UNKNOWN), or every server refuses
 * its bytes and one of them may still have it mined (REJECTED_BY_NODE). Elsewhere, its nonce may be
 * used while no RPC node has the history (NONCE_USED_UNEXPLAINED). `acknowledge` names that
 * `stateReason`, and the transaction is FAILED at once. It may still be mined, so a second payment
 * may pay twice. The service scans for its hashes for 14 days, and the transaction becomes
 * SUCCEEDED when it is found. With COIN_UNKNOWN its UTXOs stay reserved meanwhile.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `transaction-not-found`,
 * `transaction-not-pending`, `end-not-unknown` (the acknowledgement does not apply).
 */
export const cancel = route({
  method: 'POST',
  path: '/transaction/:txId/cancel',
  access: 'write',
  summary: 'Cancel a pending transaction, or replace one that is not yet mined',
  optionalBody: cancelBody,
  answer: transactionAnswer(200),
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-pending', 'end-not-unknown'],
  handle: cancelTransaction,
});

async function cancelTransaction(context: HttpContext): Promise<Response> {
  const id = transactionIdOf(context);
  if (id instanceof Response) return id;
  const actor = actorOf(context);
  const body = await optionalBodyOf(context, cancelBody);
  const cancelled = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.execute(actor, { type: 'cancel', id, acknowledged: body?.acknowledge ?? null }),
  );
  return cancelled.ok ? context.json(recordOf(context, cancelled.value)) : refusalProblem(context, cancelled.refusal);
}
