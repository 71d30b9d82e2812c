import type { EventOf, FailureReason, PriceObstacle } from '#domain/transaction/event.ts';
import { hasSameProof, isRecorded, isSameInclusion, typeAfter } from '#domain/transaction/inclusion.ts';
import { isPastNotAfterTime } from '#domain/transaction/intent.ts';
import {
  COIN_UNKNOWN,
  NONCE_USED_UNEXPLAINED,
  isWatchedAfterFailure,
  keepsUtxosReserved,
  mayEndUnknown,
  outstandingJob,
} from '#domain/transaction/job.ts';
import { checkSecondNode, NODES_DISAGREE } from '#domain/transaction/second-node-check.ts';
import type { TransactionChange, TransitionStep } from '#domain/transaction/step.ts';
import { replaceNewest } from '#domain/transaction/step.ts';
import type { ValuedInclusion, Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { isFinal, isReplaceable, newestAttempt, signedAttempts } from '#domain/transaction/transaction.ts';

export const include: TransitionStep<'include'> = (transaction, event, { nowMs }) => {
  const { inclusion, confirmationsNeeded } = event;
  const mined = transaction.attempts.find((attempt) => attempt.signed?.hash === inclusion.hash);
  if (mined === undefined || isRecorded(transaction, inclusion)) return null;
  const isDisputed = inclusion.secondNode === 'disagrees';
  if (isDisputed && transaction.state === 'BROADCAST') return disputedBefore(transaction, nowMs);
  // One that failed may have left the others alive.
  if (!inclusion.succeeded && isOutdated(transaction, event)) return null;
  const cancels = mined.purpose === 'cancellation';
  const found = { inclusion, displayType: typeAfter(transaction, inclusion) };
  if (inclusion.confirmations < confirmationsNeeded && !isDisputed) {
    return { state: 'CONFIRMING', stateReason: cancels ? 'CANCELLING' : null, ...found };
  }
  const { givenUp = null } = transaction;
  if (cancels && givenUp !== null) return confirmed(transaction, { state: 'FAILED', stateReason: givenUp, ...found });
  if (cancels) return confirmed(transaction, { state: 'CANCELLED', stateReason: 'CANCELLED_ON_CHAIN', ...found });
  return inclusion.succeeded
    ? confirmed(transaction, { state: 'SUCCEEDED', stateReason: null, ...found })
    : confirmed(transaction, { state: 'FAILED', stateReason: 'REVERTED', ...found });
};

/** A node may change its answer with each look; the record follows it no more often. Ours. */
const MIN_QUIET_MS = 15_000;

function hasJustChanged({ updatedAtMs }: Transaction, nowMs: number): boolean {
  return nowMs - updatedAtMs < MIN_QUIET_MS;
}

/**
 * What one node states and another one contradicts is not recorded where nothing was before: the transaction waits on, and can be cancelled.
 * It is no reason against another attempt that is on its way, and takes the place of no reason that asks for a person.
 */
function disputedBefore(transaction: Transaction, nowMs: number): TransactionChange | null {
  const { stateReason } = transaction;
  if (outstandingJob(transaction) !== 'confirm' || stateReason === NODES_DISAGREE) return null;
  const isNamed = isAtRest(transaction) || mayEndUnknown(transaction);
  return isNamed || hasJustChanged(transaction, nowMs) ? null : { stateReason: NODES_DISAGREE };
}

type End = Pick<Transaction, 'state' | 'stateReason' | 'displayType'> & { readonly inclusion: ValuedInclusion };

/** The end that an inclusion brings, or what it waits for until then (see `checkSecondNode`). */
function confirmed(transaction: Transaction, end: End): TransactionChange | null {
  const { inclusion, state, stateReason } = transaction;
  const isSame = isSameInclusion(inclusion, end.inclusion);
  const { ends, reason } = checkSecondNode(end.inclusion.secondNode, isSame && isFinal(state));
  if (ends) return end;
  // However deep it gets meanwhile: a record that changes all the time never looks stuck to the operators.
  const isOld = isSame && state === 'CONFIRMING' && stateReason === reason;
  return isOld && inclusion !== null && hasSameProof(inclusion, end.inclusion)
    ? null
    : { ...end, state: 'CONFIRMING', stateReason: reason };
}

/**
 * Once final for people, only the finality of the block, or what a second node says of it, may still change, or the block may be gone. What
 * has failed without any block was given up, and is found after all.
 */
export const includeAgain: TransitionStep<'include'> = (transaction, event, context) => {
  const { inclusion: before } = transaction;
  const { finalized, secondNode, isFinalForOneNode } = event.inclusion;
  if (before === null && transaction.state !== 'FAILED') return null;
  if (before?.finalized === true && isSameInclusion(before, event.inclusion)) return null;
  const isNewVerdict = secondNode !== undefined && secondNode !== 'away' && secondNode !== before?.secondNode;
  const isNewFinality = finalized || (isFinalForOneNode === true && before?.isFinalForOneNode !== true);
  if (isSameInclusion(before, event.inclusion) && !isNewFinality && !isNewVerdict) return null;
  const change = include(transaction, event, context);
  // The allocator gives the coins back when this inclusion is final.
  return change === null || 'code' in change || !keepsUtxosReserved(transaction)
    ? change
    : { ...change, nonceHeld: true };
};

/** Another attempt has been signed since whoever reports began to look: it may be what was not found. */
function isOutdated(
  transaction: Transaction,
  { lookedFor = transaction.attempts.length }: EventOf<'include' | 'miss'>,
): boolean {
  return signedAttempts(transaction).length > lookedFor;
}

/** Reasons of records that wait for what RPC nodes do not show, or do not show alike. */
const UNSHOWN: ReadonlySet<string | null> = new Set([NONCE_USED_UNEXPLAINED, COIN_UNKNOWN, NODES_DISAGREE]);

/** Reasons that a price, a balance or a person changes, and no repetition does. */
const AT_REST: ReadonlySet<string | null> = new Set<FailureReason>([
  'REJECTED_BY_NODE',
  'FEE_CAP_EXCEEDED',
  'SPEED_UP_NEEDED',
  'INSUFFICIENT_FUNDS',
]);

/**
 * Reports whether the bytes of a transaction rest: no further attempt can be had at present, and the network does not take the newest one.
 * They are offered again without a record of it: a record that goes round would never look stuck to the operators.
 */
export function isAtRest(transaction: Pick<Transaction, 'stateReason' | 'attempts'>): boolean {
  return AT_REST.has(transaction.stateReason) && transaction.attempts.at(-1)?.sent?.outcome === 'refused';
}

/** The first repetition follows at once. Ours. */
const RESEND_MS = 15_000;
const MAX_RESEND_MS = 10 * 60_000;

/** Reports whether bytes that no mempool holds go out again. A node may take them and drop them each time. */
function isResendDue({ signed, sent }: Pick<Attempt, 'signed' | 'sent'>, nowMs: number): boolean {
  if (sent === null || sent.times < 2) return true;
  const delayMs = Math.min(RESEND_MS * 2 ** Math.min(sent.times - 2, 10), MAX_RESEND_MS);
  // Up to a quarter more, by the hash: payments that were dropped together do not come back together.
  const share = Number.parseInt(signed?.hash.slice(-2) ?? '0', 16) / 255;
  return nowMs - sent.atMs >= delayMs * (1 + (Number.isNaN(share) ? 0 : share) / 4);
}

/** One with this reason waits for blocks that take it for what was approved. */
const FEE_ABOVE_CAP: PriceObstacle = 'FEE_ABOVE_CAP';

export const notFoundInBroadcast: TransitionStep<'miss'> = (transaction, event, { nowMs }) => {
  const { nonceTaken, isUnexplained = false, isCoinUnknown = false, inMempool } = event;
  const { stateReason, cancelling } = transaction;
  if ((nonceTaken || isUnexplained || isCoinUnknown) && isOutdated(transaction, event)) return null;
  if (nonceTaken) return { state: 'FAILED', stateReason: 'CONFLICTED', watchedSinceMs: nowMs };
  if (stateReason === NODES_DISAGREE && hasJustChanged(transaction, nowMs)) return null;
  const unshown = isUnexplained ? NONCE_USED_UNEXPLAINED : isCoinUnknown ? COIN_UNKNOWN : null;
  // Nothing is sent again meanwhile: every node refuses it, and it would never look stuck to the operators.
  if (unshown !== null) return stateReason === unshown ? null : { stateReason: unshown };
  const isFairAgain = stateReason === FEE_ABOVE_CAP && inMempool && event.isTooCheap !== true;
  const isTakenAgain = stateReason === 'REJECTED_BY_NODE' && inMempool && (transaction.givenUp ?? null) === null;
  const isHealed = UNSHOWN.has(stateReason) || isFairAgain || isTakenAgain;
  const healed = isHealed ? { stateReason: cancelling ? 'CANCELLING' : null } : null;
  const newest = newestAttempt(transaction);
  if (inMempool || newest === null || newest.sent === null) return healed;
  // A payment whose time is over is not sent again.
  if (newest.purpose === 'intent' && isPastNotAfterTime(transaction.intent, nowMs)) return healed;
  if (newest.sent.outcome !== 'accepted' && newest.sent.outcome !== 'refused') return healed;
  if (isAtRest(transaction) || !isResendDue(newest, nowMs)) return stateReason === NODES_DISAGREE ? null : healed;
  // The mempool dropped it: the same bytes go out again.
  const sent = { ...newest.sent, outcome: 'unknown' as const, answer: 'The transaction is not in the mempool.' };
  return { stateReason: 'REBROADCASTING', attempts: replaceNewest(transaction, { ...newest, sent }) };
};

/** The block that held it is gone: back to BROADCAST, said openly, and the same bytes go out again. */
export const handleReorg: TransitionStep<'miss'> = (transaction, _event, { nowMs }) => {
  const { inclusion } = transaction;
  if (inclusion === null || inclusion.finalized) return null;
  // What one node alone has stated, and takes back: it may state it again with the next look.
  const isUnproven = inclusion.secondNode !== undefined && inclusion.secondNode !== 'agrees';
  return isUnproven && hasJustChanged(transaction, nowMs) ? null : withoutInclusion(transaction);
};

function withoutInclusion(transaction: Transaction) {
  return {
    state: 'BROADCAST',
    stateReason: 'REORGED',
    inclusion: null,
    displayType: typeAfter(transaction, null),
    nonceHeld: true,
    attempts: sentAgain(transaction),
  } as const;
}

/**
 * While RPC nodes contradict each other about the inclusion of a payment, a person can act as if there were none: the chain takes one of the
 * attempts, whichever node is right.
 */
export function ifDisputed<E extends 'cancel' | 'speedUp'>(
  step: TransitionStep<E>,
  code: 'transaction-not-pending' | 'transaction-not-broadcast',
): TransitionStep<E> {
  return (transaction, event, context) => {
    const { state } = transaction;
    if (!isReplaceable(transaction)) return { code, state };
    const reopened = withoutInclusion(transaction);
    const change = step({ ...transaction, ...reopened }, event, context);
    if (change !== null) return 'code' in change ? change : { ...reopened, ...change };
    // What was asked for before is not out yet: a report of the inclusion came in between.
    const { attempts } = transaction;
    return outstandingJob({ ...transaction, ...reopened, attempts }) === 'confirm' ? null : reopened;
  };
}

/** So long the hashes of what was given up are looked for. A node with history is found, or restored, within days. Ours. */
const WATCH_AFTER_FAILURE_MS = 14 * 24 * 60 * 60 * 1000;

export const notFoundAfterFailure: TransitionStep<'miss'> = (transaction, event, context) => {
  if (!isWatchedAfterFailure(transaction)) return handleReorg(transaction, event, context);
  const isKept = keepsUtxosReserved(transaction);
  // From here on it is never included: the allocator gives its coins back.
  if (isKept && event.nonceTaken && !isOutdated(transaction, event))
    return { stateReason: 'CONFLICTED', nonceHeld: true };
  const isOver = context.nowMs - (transaction.watchedSinceMs ?? 0) >= WATCH_AFTER_FAILURE_MS;
  if (!isOver) return null;
  return isKept ? { watchedSinceMs: null, nonceHeld: true } : { watchedSinceMs: null };
};

/** A person ends what no RPC node shows the end of. It is looked for under its hashes as one that failed. */
export const endUnknown: TransitionStep<'endUnknown'> = (transaction, { reason }, { nowMs }) =>
  mayEndUnknown(transaction) && transaction.stateReason === reason
    ? { state: 'FAILED', cancelling: false, watchedSinceMs: nowMs }
    : { code: 'end-not-unknown', state: transaction.state };

export const resumeWatching: TransitionStep<'watch'> = (transaction, _event, { nowMs }) =>
  transaction.inclusion !== null || isWatchedAfterFailure(transaction) || signedAttempts(transaction).length === 0
    ? null
    : { watchedSinceMs: nowMs };

/** One that was not sent yet, because an earlier one was mined meanwhile, goes its way from where it was. */
function sentAgain(transaction: Transaction): readonly Attempt[] {
  const newest = newestAttempt(transaction);
  if (newest === null || newest.sent === null) return transaction.attempts;
  const sent = { ...newest.sent, outcome: 'unknown' as const, answer: 'A reorg removed the block of the transaction.' };
  return replaceNewest(transaction, { ...newest, sent });
}
