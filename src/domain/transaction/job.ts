import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt } from '#domain/transaction/transaction.ts';

/** Work that is outstanding for a transaction. Each transaction has at most one, and it follows from the record alone. */
const TRANSACTION_JOBS = ['expire', 'sign', 'broadcast', 'confirm', 'settle'] as const;
export type TransactionJob = (typeof TRANSACTION_JOBS)[number];

/**
 * The one job that a record calls for. Because it is derived and not remembered, a lost, doubled or late message can
 * neither leave a transaction without its job nor give it two.
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
      // A reorganisation can still undo it: watched until the chain calls its block final.
      if (transaction.inclusion !== null && !transaction.inclusion.finalized) return 'confirm';
      if (transaction.nonceHeld) return 'settle';
      return isWatchedAfterFailure(transaction) ? 'confirm' : null;
    case 'REJECTED':
    case 'EXPIRED':
      return null;
  }
}

/** Reports whether a transaction that ended without an inclusion is still looked for under the hashes of its attempts. */
export function isWatchedAfterFailure({ state, inclusion, watchedSinceMs = null }: Transaction): boolean {
  return state === 'FAILED' && inclusion === null && watchedSinceMs !== null;
}

/** No RPC node shows a coin that the transaction spends. With FAILED a person ended it for that, and it may be included all the same. */
export const COIN_UNKNOWN = 'COIN_UNKNOWN';

/** The nonce of the transaction is used, and no RPC node shows by what. */
export const NONCE_USED_UNEXPLAINED = 'NONCE_USED_UNEXPLAINED';

/** Why a transaction in BROADCAST may never end by itself: RPC nodes do not show its end, or the network takes none of its bytes. */
export const UNKNOWN_END_REASONS = [COIN_UNKNOWN, NONCE_USED_UNEXPLAINED, 'REJECTED_BY_NODE'] as const;
export type UnknownEndReason = (typeof UNKNOWN_END_REASONS)[number];

/**
 * Reports whether a person may end a transaction although it may be included all the same. One that is given up for a refusal ends by the
 * attempt that uses its nonce up.
 */
export function mayEndUnknown({
  state,
  stateReason,
  givenUp = null,
}: Pick<Transaction, 'state' | 'stateReason' | 'givenUp'>): boolean {
  const endsByItself = stateReason === 'REJECTED_BY_NODE' && givenUp !== null;
  return state === 'BROADCAST' && !endsByItself && UNKNOWN_END_REASONS.some((reason) => reason === stateReason);
}

/**
 * Reports whether the coins of a transaction stay claimed although it has ended: it is still watched, and what another
 * payment spent of them would be lost to that one when this one is included after all.
 */
export function keepsUtxosReserved(transaction: Transaction): boolean {
  return isWatchedAfterFailure(transaction) && transaction.stateReason === COIN_UNKNOWN;
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

/** Once the attempt that carries it out has been sent, whatever came of that, the one that takes its place is next. */
export function needsCancellation({ purpose, sent }: Attempt, cancelling: boolean): boolean {
  return cancelling && purpose === 'intent' && sent !== null;
}

/** Reports whether an attempt cannot, or not soon enough, be included as it is, so that another one has to follow. */
export function needsReplacement({ sent }: Attempt): boolean {
  return sent?.outcome === 'underpriced' || sent?.outcome === 'lapsed';
}
