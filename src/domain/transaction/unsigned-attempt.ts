import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { TransitionStep } from '#domain/transaction/step.ts';
import { replaceNewest } from '#domain/transaction/step.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt } from '#domain/transaction/transaction.ts';

/** Our limit. It is longer than any signing takes, and within it fee rates change little. */
const STALE_AFTER_MS = 5 * 60 * 1000;

/**
 * Reports whether the price of unsigned bytes is outdated and the bytes may be dropped: no
 * co-signer has begun to sign them. Bytes that a co-signer may have begun with stay. It would
 * refuse other bytes under the same number, and the other co-signers would refuse the next number.
 */
export function isStale({ signed, isAsked, preparedAtMs }: Attempt, nowMs: number): boolean {
  return signed === null && isAsked === false && nowMs - preparedAtMs >= STALE_AFTER_MS;
}

export const markContacted: TransitionStep<'ask'> = (transaction, { signingDigest }) => {
  const newest = newestAttempt(transaction);
  if (newest === null || newest.signed !== null || newest.signingDigest !== signingDigest) return null;
  return newest.isAsked === true ? null : { attempts: replaceNewest(transaction, { ...newest, isAsked: true }) };
};

/**
 * Only the run that prepared the bytes may do this, and never after a request of another run, which
 * may have reached co-signers.
 */
export const markNotContacted: TransitionStep<'askInVain'> = (transaction, { signingDigest, run }) => {
  const newest = newestAttempt(transaction);
  if (newest === null || newest.signed !== null || newest.signingDigest !== signingDigest) return null;
  if (newest.preparedBy !== run || newest.isAsked !== undefined) return null;
  return { attempts: replaceNewest(transaction, { ...newest, isAsked: false }) };
};

/** Replaces bytes that no co-signer has begun with, under their number, nonce and purpose. */
export const replaceUnsigned: TransitionStep<'prepare'> = (transaction, { attempt, instead }, { nowMs }) => {
  const newest = newestAttempt(transaction);
  if (newest === null || newest.signed !== null || newest.isAsked !== false) return null;
  if (newest.signingDigest !== instead || newest.nonce !== attempt.nonce) return null;
  if (newest.purpose !== attempt.purpose || !isRequested(attempt.purpose, transaction)) return null;
  return { attempts: replaceNewest(transaction, unsignedAttempt(attempt, newest.number, nowMs)) };
};

function isRequested(purpose: Attempt['purpose'], { cancelling }: Pick<Transaction, 'cancelling'>): boolean {
  return purpose === (cancelling ? 'cancellation' : 'intent');
}
