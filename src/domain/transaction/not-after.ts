import { attemptEndsAtMs, isPastNotAfterTime } from '#domain/transaction/intent.ts';
import type { TransitionStep } from '#domain/transaction/step.ts';
import { replaceNewest } from '#domain/transaction/step.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt } from '#domain/transaction/transaction.ts';

/**
 * Ours: the time after a failed cancellation, for example one that co-signers refused, until the
 * next one.
 */
const RETRY_MS = 60 * 60 * 1000;

/**
 * Reports whether an unconfirmed payment must be cancelled because the time limit of its intent has
 * passed. Co-signers sign no cancellation after their own time limit; after it, the payment is only
 * watched.
 */
export function isPastNotAfter(transaction: Transaction, nowMs: number): boolean {
  const { intent, cancelling, endedByTimeAtMs } = transaction;
  if (cancelling || !isPastNotAfterTime(intent, nowMs) || nowMs >= attemptEndsAtMs(intent, 'cancellation'))
    return false;
  return endedByTimeAtMs === null || nowMs - endedByTimeAtMs >= RETRY_MS;
}

/**
 * Begins the cancellation of a payment whose time limit has passed. Bytes without a recorded answer
 * may still be broadcast: a run of the job can be interrupted before it records the answer.
 * Therefore they are not given up, and the cancellation competes with them at their nonce.
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
