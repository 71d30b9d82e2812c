import type { Rejection } from '#domain/access/approval.ts';
import { countsUnder, lacksDeviceSignature } from '#domain/policy/counted-approvals.ts';
import { rejectionsRequired } from '#domain/policy/optional-rules.ts';
import type { DecisionContext, TransactionChange, TransitionStep } from '#domain/transaction/step.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isCancelledUnsigned } from '#domain/transaction/transaction.ts';

export const cancel: TransitionStep<'cancel'> = () => ({ state: 'CANCELLED', stateReason: 'CANCELLED_BY_USER' });

/** An attempt without effect takes the nonce. The chain decides which attempt is mined. */
export const cancelInBroadcast: TransitionStep<'cancel'> = ({ cancelling }) =>
  cancelling ? null : { cancelling: true, stateReason: 'CANCELLING' };

/**
 * From now on nothing that pays is signed. A message has no nonce and ends at once. The job of a
 * payment ends it (`cancelUnsigned`), or signs an attempt without effect when others wait above its
 * nonce.
 */
export const cancelInSigning: TransitionStep<'cancel'> = (transaction, event, context) => {
  if (transaction.intent.kind === 'message') return cancel(transaction, event, context);
  return cancelInBroadcast(transaction, event, context);
};

export const cancelUnsigned: TransitionStep<'cancelUnsigned'> = (transaction) =>
  isCancelledUnsigned(transaction) ? { state: 'CANCELLED', stateReason: 'CANCELLED_BY_USER' } : null;

/**
 * As many rejections as the policy requires end a pending transaction. In device mode each needs a
 * device, as an approval does. Otherwise the thief of one token could end every payment of the
 * vault. The rejection of a signer takes the place of the approval.
 */
export const reject: TransitionStep<'reject'> = (transaction, event, context) => {
  if (lacksDeviceSignature(event, context.policy)) return { code: 'device-signature-required' };
  const approvals = transaction.approvals.filter(({ actor }) => actor.userId !== event.actor.userId);
  const open = openRejection(transaction, event, context);
  if (open !== 'enough') return open === null ? null : { ...open, approvals };
  const rejection = rejectionOf(transaction, event, context.nowMs);
  return { state: 'REJECTED', stateReason: 'REJECTED_BY_SIGNER', rejection };
};

/**
 * Returns the change for a rejection that does not end the transaction, null for a repeated one, or
 * `enough` for the last one that the policy requires.
 */
function openRejection(
  transaction: Transaction,
  event: Extract<TransactionEvent, { readonly type: 'reject' }>,
  { policy, nowMs }: DecisionContext,
): Pick<TransactionChange, 'openRejections'> | null | 'enough' {
  const counted = (transaction.openRejections ?? []).filter((rejection) => countsUnder(rejection, policy));
  const others = counted.filter(({ actor }) => actor.userId !== event.actor.userId);
  if (others.length + 1 >= rejectionsRequired(policy.rules)) return 'enough';
  if (others.length < counted.length) return null;
  return { openRejections: [...others, rejectionOf(transaction, event, nowMs)] };
}

/**
 * After the approval the last required rejection in device mode stops the transaction as a
 * cancellation does: the token of a signer cancels nothing there. In token mode a signer cancels
 * it.
 */
export const rejectInSigning = stopsLike(cancelInSigning);
export const rejectInBroadcast = stopsLike(cancelInBroadcast);

function stopsLike(stop: TransitionStep<'cancel'>): TransitionStep<'reject'> {
  return (transaction, event, context) => {
    const { approvalMode } = context.policy;
    if (approvalMode === 'token') return { code: 'transaction-not-pending', state: transaction.state };
    if (lacksDeviceSignature(event, context.policy)) return { code: 'device-signature-required' };
    const open = openRejection(transaction, event, context);
    if (open !== 'enough') return open;
    const stopped = stop(transaction, { type: 'cancel', actor: event.actor }, context);
    if (stopped === null || 'code' in stopped) return stopped;
    return { ...stopped, rejection: rejectionOf(transaction, event, context.nowMs) };
  };
}

function rejectionOf(
  { digest }: Transaction,
  { actor, device, reason }: Extract<TransactionEvent, { readonly type: 'reject' }>,
  atMs: number,
): Rejection {
  return { actor, digest, device, atMs, ...(reason === undefined ? {} : { reason }) };
}
