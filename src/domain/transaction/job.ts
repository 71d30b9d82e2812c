import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt } from '#domain/transaction/transaction.ts';

/**
 * The pending work of a transaction. Each transaction has at most one job, which follows from the
 * record alone.
 */
export const TRANSACTION_JOBS = ['expire', 'sign', 'broadcast', 'confirm', 'settle'] as const;
export type TransactionJob = (typeof TRANSACTION_JOBS)[number];

/**
 * Returns the one job that a record requires. Because it is derived and not stored, a lost,
 * repeated or late message can neither leave a transaction without its job nor give it two.
 */
export function outstandingJob(transaction: Transaction): TransactionJob | null {
  switch (transaction.state) {
    case 'DRAFT':
    case 'SUBMITTED':
      return 'expire';
    case 'SIGNING':
      return 'sign';
    case 'BROADCAST':
      return inBroadcast(newestAttempt(transaction), transaction.cancelling);
    case 'CONFIRMING':
      return 'confirm';
    case 'SUCCEEDED':
    case 'FAILED':
    case 'CANCELLED':
      // A reorg can still undo it: it is watched until the block is final.
      if (transaction.inclusion !== null && !transaction.inclusion.finalized) return 'confirm';
      if (transaction.nonceHeld) return 'settle';
      return isWatchedAfterFailure(transaction) ? 'confirm' : null;
    case 'REJECTED':
    case 'EXPIRED':
      return null;
  }
}

/**
 * Reports whether a transaction that ended without an inclusion is still polled under the hashes of
 * its attempts.
 */
export function isWatchedAfterFailure({ state, inclusion, watchedSinceMs }: Transaction): boolean {
  return state === 'FAILED' && inclusion === null && watchedSinceMs !== null;
}

/**
 * No RPC node shows a UTXO that the transaction spends. With FAILED, a member ended it for that
 * reason, and it may still be included.
 */
export const COIN_UNKNOWN = 'COIN_UNKNOWN';

/** The nonce of the transaction is used, and no RPC node shows by which transaction. */
export const NONCE_USED_UNEXPLAINED = 'NONCE_USED_UNEXPLAINED';

/** For an hour no RPC node has shown the transaction, in a mempool or in a block. */
export const NOT_SHOWN = 'NOT_SHOWN';

/**
 * Why a transaction in BROADCAST may never end by itself: RPC nodes do not show its outcome, or the
 * network accepts none of its bytes.
 */
export const UNKNOWN_END_REASONS = [COIN_UNKNOWN, NONCE_USED_UNEXPLAINED, 'REJECTED_BY_NODE', NOT_SHOWN] as const;
export type UnknownEndReason = (typeof UNKNOWN_END_REASONS)[number];

/**
 * Reports whether a member may end a transaction although it may still be included. A transaction
 * that is given up after a refusal ends by the attempt that uses its nonce. One that RPC nodes do
 * not show is cancelled first: its bytes may be valid, and the cancellation excludes them.
 */
export function mayEndUnknown({
  state,
  stateReason,
  givenUp,
  cancelling,
}: Pick<Transaction, 'state' | 'stateReason' | 'givenUp' | 'cancelling'>): boolean {
  const endsByItself =
    (stateReason === 'REJECTED_BY_NODE' && givenUp !== null) || (stateReason === NOT_SHOWN && !cancelling);
  return state === 'BROADCAST' && !endsByItself && UNKNOWN_END_REASONS.some((reason) => reason === stateReason);
}

/**
 * Reports whether the UTXOs or the nonce slot of a transaction stay reserved although a member has
 * ended it. It is still watched: if it is included after all, another payment that depends on them
 * would fail.
 */
export function keepsReservation(transaction: Transaction): boolean {
  const reasons: readonly (string | null)[] = [COIN_UNKNOWN, NONCE_USED_UNEXPLAINED, NOT_SHOWN];
  return isWatchedAfterFailure(transaction) && reasons.includes(transaction.stateReason);
}

function inBroadcast(attempt: Attempt | null, cancelling: boolean): TransactionJob {
  if (attempt === null || attempt.signed === null) return 'sign';
  if (needsCancellation(attempt, cancelling)) return 'sign';
  switch (attempt.sent?.outcome) {
    case 'accepted':
    case 'refused':
      return 'confirm';
    case 'underpriced':
    case 'lapsed':
      return 'sign';
    case 'unknown':
    case 'undecided':
    case undefined:
      return 'broadcast';
  }
}

/**
 * Reports whether a cancellation is next: the attempt that executes the intent has been sent, with
 * whatever result.
 */
export function needsCancellation({ purpose, sent }: Attempt, cancelling: boolean): boolean {
  return cancelling && purpose === 'intent' && sent !== null;
}

/**
 * Reports whether an attempt cannot be included as it is, or not soon enough, so that another one
 * must follow.
 */
export function needsReplacement({ sent }: Attempt): boolean {
  return sent?.outcome === 'underpriced' || sent?.outcome === 'lapsed';
}
