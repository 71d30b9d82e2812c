import { attemptEndsAtMs, isPastNotAfterTime } from '#domain/transaction/intent.ts';
import type { TransitionStep } from '#domain/transaction/step.ts';
import { replaceNewest } from '#domain/transaction/step.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt } from '#domain/transaction/transaction.ts';

/** Ours: so long after a cancellation that could not be had, for example because co-signers refused it, the next one is tried. */
const RETRY_MS = 60 * 60 * 1000;

/**
 * Reports whether a payment that waits to be mined has to be cancelled because the time of its intent is over.
 * Co-signers sign no cancellation after their own time; then the payment is watched on.
 */
export function isPastNotAfter(transaction: Transaction, nowMs: number): boolean {
  const { intent, cancelling, endedByTimeAtMs = null } = transaction;
  if (cancelling || !isPastNotAfterTime(intent, nowMs) || nowMs >= attemptEndsAtMs(intent, 'cancellation'))
    return false;
  return endedByTimeAtMs === null || nowMs - endedByTimeAtMs >= RETRY_MS;
}

/**
 * Begins the cancellation of a payment whose time is over. Bytes that were never sent may be out all the same: a run of the
 * job that sends them can be cut off before it records the answer. So they are not given up, and the cancellation competes
 * with them at their nonce.
 */
export const cancelAfterDeadline: TransitionStep<'endByTime'> = (transaction, _event, { nowMs }) => {
  const newest = newestAttempt(transaction);
  if (!isPastNotAfter(transaction, nowMs) || newest === null || newest.signed === null) return null;
  const sent = newest.sent ?? {
    outcome: 'refused' as const,
    answer: 'notAfter passed before the transaction was sent.',
    atMs: nowMs,
    times: 0,
  };
  return {
    cancelling: true,
    givenUp: 'NOT_AFTER_PASSED',
    stateReason: 'NOT_AFTER_PASSED',
    endedByTimeAtMs: nowMs,
    attempts: replaceNewest(transaction, { ...newest, sent }),
  };
};
