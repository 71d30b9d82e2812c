import type { EventOf, FailureReason, PriceObstacle } from '#domain/transaction/event.ts';
import {
  CONTENTS_CORRECTED,
  FINAL_BLOCK_GONE,
  hasSameContents,
  hasSameProof,
  isRecorded,
  isSameInclusion,
  TRANSFER_NOT_LOGGED,
  typeAfter,
} from '#domain/transaction/inclusion.ts';
import { isPastNotAfterTime } from '#domain/transaction/intent.ts';
import {
  COIN_UNKNOWN,
  NONCE_USED_UNEXPLAINED,
  NOT_SHOWN,
  isWatchedAfterFailure,
  keepsReservation,
  mayEndUnknown,
  outstandingJob,
} from '#domain/transaction/job.ts';
import { checkSecondNode, NODES_DISAGREE } from '#domain/transaction/second-node-check.ts';
import type { TransactionChange, TransitionStep } from '#domain/transaction/step.ts';
import { replaceNewest } from '#domain/transaction/step.ts';
import type { Inclusion, ValuedInclusion, Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { isFinal, isReplaceable, newestAttempt, signedAttempts } from '#domain/transaction/transaction.ts';

export const include: TransitionStep<'include'> = (transaction, event, { nowMs }) => {
  const { inclusion, confirmationsNeeded } = event;
  const mined = transaction.attempts.find((attempt) => attempt.signed?.hash === inclusion.hash);
  if (mined === undefined || isRecorded(transaction, inclusion)) return null;
  const isDisputed = inclusion.secondNode === 'disagrees';
  if (isDisputed && transaction.state === 'BROADCAST') return disputedBefore(transaction, nowMs);
  // Another attempt may still be alive after one that failed.
  if (!inclusion.succeeded && isOutdated(transaction, event)) return null;
  const cancels = mined.purpose === 'cancellation';
  const found = { inclusion, displayType: typeAfter(transaction, inclusion) };
  if (inclusion.confirmations < confirmationsNeeded && !isDisputed) {
    return { state: 'CONFIRMING', stateReason: cancels ? 'CANCELLING' : null, ...found };
  }
  const { givenUp } = transaction;
  if (cancels && givenUp !== null) return confirmed(transaction, { state: 'FAILED', stateReason: givenUp, ...found });
  if (cancels) return confirmed(transaction, { state: 'CANCELLED', stateReason: 'CANCELLED_ON_CHAIN', ...found });
  return confirmed(transaction, { ...resultOf(inclusion), ...found });
};

/**
 * Returns the end of a payment in a block. A receipt with status 1 is no failure unless the
 * balances prove that the token did not move: members pay again after a failure.
 */
function resultOf({ succeeded, tokenTransfer }: Inclusion): Pick<Transaction, 'state' | 'stateReason'> {
  if (!succeeded) return { state: 'FAILED', stateReason: 'REVERTED' };
  if (tokenTransfer === 'unmoved') return { state: 'FAILED', stateReason: 'TOKEN_NOT_MOVED' };
  return { state: 'SUCCEEDED', stateReason: tokenTransfer === 'unproven' ? TRANSFER_NOT_LOGGED : null };
}

/**
 * An RPC node may change its answer with each poll. The record changes at most once in this time.
 * Ours.
 */
const MIN_QUIET_MS = 15_000;

function hasJustChanged({ updatedAtMs }: Transaction, nowMs: number): boolean {
  return nowMs - updatedAtMs < MIN_QUIET_MS;
}

/**
 * Returns the change for an inclusion, or a use of the nonce, that one RPC node reports and another
 * contradicts. It is not recorded where no inclusion was: the transaction still waits and can be
 * cancelled. It does not block another attempt in flight, and it replaces no reason that needs a
 * member.
 */
function disputedBefore(transaction: Transaction, nowMs: number): TransactionChange | null {
  const { stateReason } = transaction;
  if (outstandingJob(transaction) !== 'confirm' || stateReason === NODES_DISAGREE) return null;
  const isNamed = isAtRest(transaction) || mayEndUnknown(transaction);
  return isNamed || hasJustChanged(transaction, nowMs) ? null : { stateReason: NODES_DISAGREE };
}

type End = Pick<Transaction, 'state' | 'stateReason' | 'displayType'> & { readonly inclusion: ValuedInclusion };

/**
 * Returns the end that an inclusion brings, or the reason for which it waits (see
 * `checkSecondNode`).
 */
function confirmed(transaction: Transaction, end: End): TransactionChange | null {
  const { inclusion, state, stateReason } = transaction;
  const isSame = isSameInclusion(inclusion, end.inclusion);
  const { ends, reason } = checkSecondNode(end.inclusion.secondNode, isSame && isFinal(state));
  if (ends) return end;
  // This holds however deep the block gets: a record that changes all the time would never look
  // stuck to operators.
  const isOld = isSame && state === 'CONFIRMING' && stateReason === reason;
  return isOld && inclusion !== null && hasSameProof(inclusion, end.inclusion)
    ? null
    : { ...end, state: 'CONFIRMING', stateReason: reason };
}

/**
 * After the end, only the finality of the block, the second RPC node's verdict, the proof of a
 * token payment or the removal of the block changes the record. A transaction that failed without
 * any block was given up, and is now included after all.
 */
export const includeAgain: TransitionStep<'include'> = (transaction, event, context) => {
  const { inclusion: before } = transaction;
  const { finalized, secondNode, isFinalForOneNode, tokenTransfer } = event.inclusion;
  if (before === null && transaction.state !== 'FAILED') return null;
  if (before?.finalized === true && isSameInclusion(before, event.inclusion)) return null;
  const isNewVerdict = secondNode !== undefined && secondNode !== 'away' && secondNode !== before?.secondNode;
  const isNewProof = tokenTransfer !== before?.tokenTransfer;
  const isNewFinality = finalized || (isFinalForOneNode === true && before?.isFinalForOneNode !== true);
  if (isSameInclusion(before, event.inclusion) && !isNewFinality && !isNewVerdict && !isNewProof) return null;
  const change = include(transaction, event, context);
  // The allocator releases the UTXOs when this inclusion is final.
  return change === null || 'code' in change || !keepsReservation(transaction)
    ? change
    : { ...change, nonceHeld: true };
};

/** Another attempt has been signed since the poll began, so the poll did not cover it. */
function isOutdated(
  transaction: Transaction,
  { lookedFor = transaction.attempts.length }: EventOf<'include' | 'miss'>,
): boolean {
  return signedAttempts(transaction).length > lookedFor;
}

/** Reasons of records that wait because RPC nodes do not show the outcome, or disagree on it. */
const UNSHOWN: ReadonlySet<string | null> = new Set([NONCE_USED_UNEXPLAINED, COIN_UNKNOWN, NODES_DISAGREE]);

/** Reasons that people see while the bytes are sent again and again, or none. */
const SENDING: ReadonlySet<string | null> = new Set([
  null,
  'CANCELLING',
  'NONCE_ACCOUNT_MISSING',
  'REBROADCASTING',
  'REORGED',
  'REFUSED_BY_NODE',
  'REPRICING',
  'SIGNERS_REFUSED',
  'SIGNING_AGAIN',
  'SIGNING_TIMEOUT',
]);

/** Ours: no chain includes a payment so late by itself. */
const NOT_SHOWN_MS = 60 * 60_000;
/** The resends of bytes take about as long until they are this many. */
const NOT_SHOWN_TIMES = 10;

/**
 * Reports whether a transaction in flight has waited for so long that `NOT_SHOWN` is its reason,
 * when no RPC node explains it: neither that it waits, nor that it is excluded.
 */
export function hasWaitedUnshown(transaction: Transaction, nowMs: number): boolean {
  const newest = signedAttempts(transaction).at(-1);
  const { state, stateReason, updatedAtMs } = transaction;
  if (newest === undefined || state !== 'BROADCAST' || !SENDING.has(stateReason)) return false;
  const isUnchanged = nowMs - updatedAtMs >= NOT_SHOWN_MS;
  const isSentOften = (newest.sent?.times ?? 0) >= NOT_SHOWN_TIMES;
  return nowMs - newest.signed.atMs >= NOT_SHOWN_MS && (isUnchanged || isSentOften);
}

/** People cancel the transaction, and may end it when no cancellation helps. */
export const nameUnshown: TransitionStep<'unshown'> = (transaction, _event, { nowMs }) =>
  hasWaitedUnshown(transaction, nowMs) ? { stateReason: NOT_SHOWN } : null;

/** Reasons that only a price, a balance or a member can change, and no repetition. */
const AT_REST: ReadonlySet<string | null> = new Set<FailureReason>([
  'REJECTED_BY_NODE',
  'FEE_CAP_EXCEEDED',
  'SPEED_UP_NEEDED',
  'INSUFFICIENT_FUNDS',
]);

/**
 * Reports whether the bytes of a transaction rest: no further attempt is possible at present, and
 * the network does not accept the newest one. They are broadcast again without a record of it: a
 * record that alternates would never look stuck to operators.
 */
export function isAtRest(transaction: Pick<Transaction, 'stateReason' | 'attempts'>): boolean {
  return AT_REST.has(transaction.stateReason) && transaction.attempts.at(-1)?.sent?.outcome === 'refused';
}

/** The first repetition follows at once. Ours. */
const RESEND_MS = 15_000;
const MAX_RESEND_MS = 10 * 60_000;

/**
 * Reports whether bytes that no mempool holds are broadcast again. An RPC node may accept and drop
 * them each time.
 */
function isResendDue({ signed, sent }: Pick<Attempt, 'signed' | 'sent'>, nowMs: number): boolean {
  if (sent === null || sent.times < 2) return true;
  const delayMs = Math.min(RESEND_MS * 2 ** Math.min(sent.times - 2, 10), MAX_RESEND_MS);
  // The hash adds up to a quarter, so that payments that were dropped together do not return
  // together.
  const share = Number.parseInt(signed?.hash.slice(-2) ?? '0', 16) / 255;
  return nowMs - sent.atMs >= delayMs * (1 + (Number.isNaN(share) ? 0 : share) / 4);
}

/** A transaction with this reason waits until blocks accept the approved fee. */
const FEE_ABOVE_CAP: PriceObstacle = 'FEE_ABOVE_CAP';

export const notFoundInBroadcast: TransitionStep<'miss'> = (transaction, event, { nowMs }) => {
  const { nonceTaken, isUnexplained = false, isCoinUnknown = false, inMempool } = event;
  const { stateReason, cancelling } = transaction;
  if ((nonceTaken || isUnexplained || isCoinUnknown) && isOutdated(transaction, event)) return null;
  if (nonceTaken) return { state: 'FAILED', stateReason: conflictOf(event), watchedSinceMs: nowMs };
  if (event.liveUntil !== undefined) return shortenLives(transaction, event.liveUntil);
  if (stateReason === NODES_DISAGREE && hasJustChanged(transaction, nowMs)) return null;
  // One of the nodes states that the payment can still be made, so no person may end it.
  if (event.isUseDisputed === true) {
    const isEndable = stateReason === NONCE_USED_UNEXPLAINED || stateReason === COIN_UNKNOWN;
    return isEndable ? { stateReason: NODES_DISAGREE } : disputedBefore(transaction, nowMs);
  }
  const unshown = isUnexplained ? NONCE_USED_UNEXPLAINED : isCoinUnknown ? COIN_UNKNOWN : null;
  // Nothing is sent again meanwhile: every RPC node refuses it, and the record would never look
  // stuck to operators.
  if (unshown !== null) return stateReason === unshown ? null : { stateReason: unshown };
  const isFairAgain = stateReason === FEE_ABOVE_CAP && inMempool && event.isTooCheap !== true;
  const isTakenAgain = stateReason === 'REJECTED_BY_NODE' && inMempool && transaction.givenUp === null;
  // Every RPC node has the bytes that one of them refused.
  const isRelayed = stateReason === 'REFUSED_BY_NODE' && inMempool && event.isWithheld !== true;
  const isShown = stateReason === NOT_SHOWN && inMempool;
  const isHealed = UNSHOWN.has(stateReason) || isShown || isFairAgain || isTakenAgain || isRelayed;
  const healed = isHealed ? { stateReason: cancelling ? 'CANCELLING' : null } : null;
  const newest = newestAttempt(transaction);
  if (inMempool || newest === null || newest.sent === null) return healed;
  // A payment whose time limit has passed is not sent again.
  if (newest.purpose === 'intent' && isPastNotAfterTime(transaction.intent, nowMs)) return healed;
  if (newest.sent.outcome !== 'accepted' && newest.sent.outcome !== 'refused') return healed;
  // Without a record of it, the confirmation job sends these bytes again.
  const isSentSilently = isAtRest(transaction) || stateReason === NOT_SHOWN;
  if (isSentSilently || !isResendDue(newest, nowMs)) return stateReason === NODES_DISAGREE ? null : healed;
  // The mempool dropped the transaction: the same bytes are broadcast again.
  const sent = { ...newest.sent, outcome: 'unknown' as const, answer: 'The transaction is not in the mempool.' };
  return { stateReason: 'REBROADCASTING', attempts: replaceNewest(transaction, { ...newest, sent }) };
};

/** A foreign conflict would mean that the key of the wallet is stolen. */
function conflictOf({ isTakenByOwn = false }: EventOf<'miss'>): 'CONFLICTED' | 'OVERTAKEN_BY_OWN' {
  return isTakenByOwn ? 'OVERTAKEN_BY_OWN' : 'CONFLICTED';
}

/** A node may have stated a blockhash's last block falsely when the bytes were made. */
function shortenLives({ attempts }: Transaction, liveUntil: string): Pick<Transaction, 'attempts'> {
  const isTooLong = (block: string | null) => block !== null && BigInt(block) > BigInt(liveUntil);
  return {
    attempts: attempts.map((one) => (isTooLong(one.validUntil) ? { ...one, validUntil: liveUntil } : one)),
  };
}

/**
 * The block was removed: the transaction returns to BROADCAST with a visible reason, and the same
 * bytes are broadcast again.
 */
export const handleReorg: TransitionStep<'miss'> = (transaction, _event, { nowMs }) => {
  const { inclusion } = transaction;
  if (inclusion === null || inclusion.finalized) return null;
  // Only one RPC node reported the inclusion and now withdraws it. It may report it again at the
  // next poll.
  const isUnproven = inclusion.secondNode !== undefined && inclusion.secondNode !== 'agrees';
  return isUnproven && hasJustChanged(transaction, nowMs) ? null : withoutInclusion(transaction);
};

/**
 * A fork deeper than what counts as final removed the block. The record keeps its state, because
 * members have acted on it; they are notified.
 */
export const nameGone: TransitionStep<'gone'> = ({ inclusion, stateReason }) =>
  inclusion?.finalized === true && stateReason !== FINAL_BLOCK_GONE ? { stateReason: FINAL_BLOCK_GONE } : null;

/**
 * Two RPC nodes state other contents of the final inclusion than the record has. Members have
 * acted on them, so they are notified.
 */
export const correctContents: TransitionStep<'correct'> = (transaction, { inclusion: seen }) => {
  const { inclusion: before, stateReason } = transaction;
  const isProven = seen.finalized && seen.secondNode === 'agrees';
  if (before?.finalized !== true || !isProven || !isSameInclusion(before, seen)) return null;
  if (hasSameContents(before, seen)) return null;
  const { feePaid, movements, movementCount, changes } = seen;
  const inclusion = { ...before, feePaid, movements, movementCount, changes, usdValue: null };
  return {
    inclusion,
    displayType: typeAfter(transaction, inclusion),
    stateReason: stateReason ?? CONTENTS_CORRECTED,
  };
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
 * Returns a step for a disputed inclusion. While RPC nodes disagree on the inclusion of a payment,
 * a member can act as if there were none: the chain includes one of the attempts, whichever RPC
 * node is right.
 */
export function ifDisputed<E extends 'cancel' | 'reject' | 'speedUp'>(
  step: TransitionStep<E>,
  code: 'transaction-not-pending' | 'transaction-not-broadcast',
): TransitionStep<E> {
  return (transaction, event, context) => {
    const { state } = transaction;
    if (!isReplaceable(transaction)) return { code, state };
    const reopened = withoutInclusion(transaction);
    const change = step({ ...transaction, ...reopened }, event, context);
    if (change !== null) return 'code' in change ? change : { ...reopened, ...change };
    // An earlier request is not broadcast yet: a report of the inclusion came in between.
    const { attempts } = transaction;
    return outstandingJob({ ...transaction, ...reopened, attempts }) === 'confirm' ? null : reopened;
  };
}

/**
 * How long the hashes of a given-up transaction are polled. An RPC node with history is found or
 * restored within days. Ours.
 */
const WATCH_AFTER_FAILURE_MS = 14 * 24 * 60 * 60 * 1000;

export const notFoundAfterFailure: TransitionStep<'miss'> = (transaction, event, context) => {
  if (!isWatchedAfterFailure(transaction)) return handleReorg(transaction, event, context);
  const isKept = keepsReservation(transaction);
  // The transaction can never be included any more: the allocator releases its UTXOs.
  if (isKept && event.nonceTaken && !isOutdated(transaction, event))
    return { stateReason: conflictOf(event), nonceHeld: true };
  const isOver = context.nowMs - (transaction.watchedSinceMs ?? 0) >= WATCH_AFTER_FAILURE_MS;
  if (!isOver) return null;
  return isKept ? { watchedSinceMs: null, nonceHeld: true } : { watchedSinceMs: null };
};

/**
 * A member ends a transaction whose outcome no RPC node shows. Its hashes are polled like those of
 * a failed one.
 */
export const endUnknown: TransitionStep<'endUnknown'> = (transaction, { reason }, { nowMs }) =>
  mayEndUnknown(transaction) && transaction.stateReason === reason
    ? { state: 'FAILED', cancelling: false, watchedSinceMs: nowMs }
    : { code: 'end-not-unknown', state: transaction.state };

export const resumeWatching: TransitionStep<'watch'> = (transaction, _event, { nowMs }) =>
  transaction.inclusion !== null || isWatchedAfterFailure(transaction) || signedAttempts(transaction).length === 0
    ? null
    : { watchedSinceMs: nowMs };

/**
 * An attempt that was not sent yet, because an earlier one was mined meanwhile, continues from its
 * state.
 */
function sentAgain(transaction: Transaction): readonly Attempt[] {
  const newest = newestAttempt(transaction);
  if (newest === null || newest.sent === null) return transaction.attempts;
  const sent = { ...newest.sent, outcome: 'unknown' as const, answer: 'A reorg removed the block of the transaction.' };
  return replaceNewest(transaction, { ...newest, sent });
}
