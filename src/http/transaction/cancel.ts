import * as z from 'zod';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { leavesEndUnknown, observeAttempts } from '#chains/clients/observe-attempts.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { mayCancelTransaction } from '#domain/transaction/approvals.ts';
import type { TransactionId } from '#domain/id.ts';
import type { UnknownEndReason } from '#domain/transaction/job.ts';
import { mayEndUnknown, NOT_SHOWN, UNKNOWN_END_REASONS } from '#domain/transaction/job.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import { chainProblem } from '#http/transaction/creation.ts';
import { recordOf, vaultStubOf } from '#http/transaction/transaction-path.ts';
import { transactionAnswer } from '#http/encode/transaction-schema.ts';

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
 * cancel it; from its approval until it is mined, any signer can as well, in device mode by a
 * rejection alone. A repeated request gives
 * 200 and changes nothing.
 *
 * In SIGNING, nothing that pays is signed from then on. `stateReason` is CANCELLING until the job
 * has released the nonce and the transaction is CANCELLED, which needs no RPC node and no
 * co-signer. Where others wait above its nonce, a payment of zero uses the nonce first.
 *
 * In BROADCAST, the wallet signs a payment of zero to itself at the same nonce, within the approved
 * fee. `stateReason` is CANCELLING, and the chain includes one of the two: CANCELLED or SUCCEEDED.
 *
 * A transaction in BROADCAST may have an end that no RPC node shows, so that no cancellation ends
 * it. On Bitcoin, it may spend a UTXO that does not exist (COIN_UNKNOWN), or every server refuses
 * its bytes and one of them may still have it mined (REJECTED_BY_NODE). Elsewhere, its nonce may be
 * used while no RPC node has the history (NONCE_USED_UNEXPLAINED). `acknowledge` names that
 * `stateReason`. The service polls all RPC nodes again, and the transaction is FAILED at once
 * unless one of them states the opposite. It may still be mined, so a second payment may pay twice.
 * The service scans for its hashes for 14 days, and the transaction becomes SUCCEEDED when it is
 * found. With COIN_UNKNOWN and NONCE_USED_UNEXPLAINED its UTXOs or its nonce slot stay reserved
 * meanwhile.
 *
 * `end-not-unknown`: the acknowledgement does not apply. `chain-unavailable`: no RPC node answers
 * to it.
 */
export const cancel = route({
  method: 'POST',
  path: '/transaction/:txId/cancel',
  access: 'write',
  scope: 'create',
  summary: 'Cancel a transaction that is not signed, or replace one that is not mined',
  optionalBody: cancelBody,
  answer: transactionAnswer(200),
  refuses: [
    'forbidden',
    'transaction-not-found',
    'device-signature-required',
    'transaction-not-pending',
    'end-not-unknown',
    'chain-unavailable',
  ],
  handle: cancelTransaction,
});

async function cancelTransaction(
  context: HttpContext,
  { params: { txId: id }, body }: Input<{ params: 'txId'; optionalBody: typeof cancelBody }>,
): Promise<Response> {
  const actor = actorOf(context);
  const objection = body === null ? null : await objectionOfNodes(context, id, body.acknowledge);
  if (objection !== null) return objection;
  const cancelled = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.execute(actor, { type: 'cancel', id, acknowledged: body?.acknowledge ?? null }),
  );
  return cancelled.ok ? context.json(recordOf(context, cancelled.value)) : refusalProblem(context, cancelled.refusal);
}

/**
 * Returns the problem response when RPC nodes do not confirm the unknown end at this moment: the
 * record is from an earlier poll. Null when they do, and when the vault refuses the request anyway.
 */
async function objectionOfNodes(
  context: HttpContext,
  id: TransactionId,
  reason: UnknownEndReason,
): Promise<Response | null> {
  const actor = actorOf(context);
  const read = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.query(actor, { type: 'readRecord', id }),
  );
  if (!read.ok || !('transaction' in read.value)) return null;
  const { transaction, viewer, policy } = read.value;
  const isEndable = mayEndUnknown(transaction) && transaction.stateReason === reason;
  if (!isEndable || !mayCancelTransaction(viewer, transaction, policy)) return null;
  const chain = findChain(chainsFrom(context.env), transaction.chain);
  const client = chain === null ? null : chainClientFor(context.env, chain);
  if (client === null) return null;
  const seen = await observeAttempts(client, transaction);
  // No RPC node has explained this transaction for an hour, and none may ever do.
  if (!seen.ok && reason === NOT_SHOWN) return null;
  if (!seen.ok) return chainProblem(context, { kind: 'transient', detail: seen.refusal.detail });
  const silent = seen.value.type === 'absent' ? (seen.value.unansweredBy ?? []) : [];
  if (silent.length > 0) {
    const detail = `An RPC node does not answer, and the transaction may be made there: ${silent.join(', ')}.`;
    return chainProblem(context, { kind: 'transient', detail });
  }
  if (leavesEndUnknown(seen.value, reason)) return null;
  const detail = 'An RPC node states that the transaction is made, or can still be made. Read the transaction again.';
  return problem(context, 'end-not-unknown', { detail, members: { state: transaction.state } });
}
