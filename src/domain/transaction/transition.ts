import { isWithdrawn } from '#domain/access/disabled-access.ts';
import type { Approval } from '#domain/access/approval.ts';
import type { UserId } from '#domain/id.ts';
import { requiredApprovalsNow, currentApprovers, hasApproved, hasRejected } from '#domain/transaction/approvals.ts';
import {
  hasRequiredDevice,
  isRequiredDevice,
  countsUnder,
  lacksDeviceSignature,
} from '#domain/policy/counted-approvals.ts';
import {
  cancel,
  cancelInBroadcast,
  cancelInSigning,
  cancelUnsigned,
  reject,
  rejectInBroadcast,
  rejectInSigning,
} from '#domain/transaction/cancel-steps.ts';
import { cancelAfterDeadline } from '#domain/transaction/not-after.ts';
import type { EventType, TransactionEvent } from '#domain/transaction/event.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import type { TransactionJob } from '#domain/transaction/job.ts';
import { needsReplacement, needsCancellation, keepsReservation, outstandingJob } from '#domain/transaction/job.ts';
import { refuseBroadcast, send } from '#domain/transaction/broadcast-steps.ts';
import { waitBehind, waitInBroadcast, withoutStaleBlocker } from '#domain/transaction/nonce-wait.ts';
import { markContacted, markNotContacted, replaceUnsigned } from '#domain/transaction/unsigned-attempt.ts';
import { dailyLimitViolation, ruleViolation } from '#domain/policy/rules.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import {
  endUnknown,
  include,
  includeAgain,
  notFoundAfterFailure,
  correctContents,
  nameGone,
  nameUnshown,
  notFoundInBroadcast,
  handleReorg,
  ifDisputed,
  resumeWatching,
} from '#domain/transaction/inclusion-steps.ts';
import type { DecisionContext, TransitionStep, TransactionChange } from '#domain/transaction/step.ts';
import { replaceNewest } from '#domain/transaction/step.ts';
import type { Attempt, Speed, Transaction, TransactionState } from '#domain/transaction/transaction.ts';
import {
  isCancelledUnsigned,
  isPermanentlyRejected,
  newestAttempt,
  signedAttempts,
} from '#domain/transaction/transaction.ts';

/**
 * Work that must follow a decision. It is stored in the same commit as the record, so a crash loses
 * neither.
 */
export type Effect =
  | { readonly type: 'start'; readonly job: TransactionJob }
  | { readonly type: 'finish'; readonly job: TransactionJob };

export interface Decision {
  readonly transaction: Transaction;
  /** False when the event changes nothing: it is a repetition, or too late. */
  readonly changed: boolean;
  readonly effects: readonly Effect[];
}

type Row = { readonly [E in EventType]?: TransitionStep<E> };

/** Later rules apply, too. The daily limit applies when the last approval decides to spend. */
const approve: TransitionStep<'approve'> = (transaction, event, { nowMs, policy, spentOf }) => {
  if (nowMs >= transaction.intent.expiresAtMs) return { code: 'transaction-not-pending', state: 'EXPIRED' };
  if (event.digest !== transaction.digest) throw new Error('an approval is not for the digest of its transaction');
  if (lacksDeviceSignature(event, policy)) return { code: 'device-signature-required' };
  const { exposure, digest } = transaction;
  // A signer whose first approval came from another device can still give the required one.
  const completes =
    !hasRequiredDevice(digest, transaction.approvals, policy) && isRequiredDevice(event.device?.keyId ?? null, policy);
  if (hasApproved(transaction, event.actor.userId) && !completes) return null;
  const breach = ruleViolation(policy.rules, exposure);
  if (breach !== null) return { code: 'policy-forbids', breach };
  const approvals = [
    ...transaction.approvals,
    { actor: event.actor, digest: event.digest, device: event.device, atMs: nowMs },
  ];
  const withdrawn = withoutRejectionOf(transaction, event.actor.userId);
  const count = currentApprovers({ ...transaction, approvals }, policy).length;
  if (count < requiredApprovalsNow(transaction, policy) || !hasRequiredDevice(digest, approvals, policy))
    return { approvals, ...withdrawn };
  const overspent = dailyLimitViolation(policy.rules, exposure, spentOf);
  if (overspent !== null) return { code: 'policy-forbids', breach: overspent };
  // What the vault pays is in the lists of all members, although its creator hid it before.
  const shown = transaction.visibilityChoice === false ? { visible: true, visibilityChoice: null } : {};
  const nonceHeld = transaction.intent.kind !== 'message';
  return { approvals, ...withdrawn, state: 'SIGNING', stateReason: null, nonceHeld, ...shown };
};

/** The approval of a signer takes the place of the rejection. */
function withoutRejectionOf(transaction: Transaction, userId: UserId): TransactionChange {
  if (!hasRejected(transaction, userId)) return {};
  return { openRejections: (transaction.openRejections ?? []).filter(({ actor }) => actor.userId !== userId) };
}

const dropVotes: TransitionStep<'dropVotes'> = (transaction, event) => {
  const { policy, disabledAccess } = event;
  const counts = (one: Approval) => countsUnder(one, policy) && !isWithdrawn(disabledAccess, one);
  const open = transaction.openRejections ?? [];
  const [approvals, openRejections] = [transaction.approvals.filter(counts), open.filter(counts)];
  if (approvals.length === transaction.approvals.length && openRejections.length === open.length) return null;
  return openRejections.length === open.length ? { approvals } : { approvals, openRejections };
};

const expire: TransitionStep<'expire'> = (transaction, _event, { nowMs }) =>
  nowMs < transaction.intent.expiresAtMs ? null : { state: 'EXPIRED', stateReason: 'EXPIRED_UNDECIDED' };

/**
 * The first to prepare wins: a second run gets the stored bytes and requests the same signature.
 */
const prepare: TransitionStep<'prepare'> = (transaction, event, context) => {
  if (event.instead !== undefined) return replaceUnsigned(transaction, event, context);
  const { nowMs } = context;
  const newest = newestAttempt(transaction);
  const requested =
    newest === null ||
    needsReplacement(newest) ||
    needsCancellation(newest, transaction.cancelling) ||
    isGivenUp(newest, transaction);
  if (event.attempt.purpose !== nextPurpose(transaction)) return null;
  if (!requested || (newest !== null && newest.nonce !== event.attempt.nonce)) return null;
  const attempt = unsignedAttempt(event.attempt, (newest?.number ?? 0) + 1, nowMs);
  return { attempts: [...transaction.attempts, attempt] };
};

const delaySigning: TransitionStep<'delaySigning'> = (transaction, event) =>
  transaction.stateReason === event.reason ? null : { stateReason: event.reason };

const waitInSigning: TransitionStep<'waitForNonce'> = (transaction, { blocker }) =>
  blocker === null ? null : waitBehind(transaction, blocker.transactionId);

/** A payment that was given up for others has only signed bytes that every RPC node refused. */
const failSigning: TransitionStep<'failSigning'> = (transaction, event) => {
  const isNowhere = signedAttempts(transaction).every((attempt) => isPermanentlyRejected(attempt, transaction));
  return isNowhere ? { state: 'FAILED', stateReason: transaction.givenUp ?? event.reason } : null;
};

/** Nothing is signed yet, and from now on only a cancellation is signed. */
const fillNonce: TransitionStep<'fillNonce'> = ({ attempts, cancelling }, { reason }) =>
  cancelling || attempts.some(({ signed }) => signed !== null)
    ? null
    : { cancelling: true, givenUp: reason, stateReason: reason };

const sign: TransitionStep<'sign'> = (transaction, event, { nowMs }) => {
  const newest = newestAttempt(transaction);
  if (newest === null || newest.number !== event.attempt || newest.signed !== null) return null;
  // A member cancelled it while co-signers signed: the bytes are dropped, and no node gets them.
  if (isCancelledUnsigned(transaction) && newest.purpose === 'intent') return null;
  const signed = { raw: event.raw, hash: event.hash, atMs: nowMs };
  const stateReason = transaction.cancelling ? 'CANCELLING' : null;
  return { state: 'BROADCAST', stateReason, attempts: replaceNewest(transaction, { ...newest, signed }) };
};

const signMessage: TransitionStep<'signMessage'> = (transaction, { signature }) =>
  transaction.intent.kind === 'message' ? { state: 'SUCCEEDED', stateReason: null, signature } : null;

const waitForNonce: TransitionStep<'waitForNonce'> = (transaction, { blocker }) =>
  waitInBroadcast(transaction, blocker);

const lapse: TransitionStep<'lapse'> = (transaction, event) => {
  const newest = newestAttempt(transaction);
  if (newest === null || newest.number !== event.attempt || newest.sent === null || needsReplacement(newest))
    return null;
  const sent = {
    ...newest.sent,
    outcome: 'lapsed' as const,
    answer: 'The attempt has expired and can no longer be included in a block.',
  };
  return { stateReason: 'SIGNING_AGAIN', attempts: replaceNewest(transaction, { ...newest, sent }) };
};

const speedUp: TransitionStep<'speedUp'> = (transaction) => {
  const newest = newestAttempt(transaction);
  // Not sent yet, or a better one is already in preparation.
  if (newest === null || newest.sent === null || needsReplacement(newest)) return null;
  if (isPermanentlyRejected(newest, transaction)) return null;
  // The RPC nodes' requirement for a replacement is kept.
  const answer = newest.sent.outcome === 'refused' ? newest.sent.answer : 'A higher fee was requested.';
  const sent = { ...newest.sent, outcome: 'underpriced' as const, answer, isAsked: true as const };
  return { stateReason: 'REPRICING', attempts: replaceNewest(transaction, { ...newest, sent }) };
};

const reprice: TransitionStep<'reprice'> = (transaction, { attempt, obstacle }) => {
  const newest = newestAttempt(transaction);
  if (newest?.number !== attempt || newest.sent === null || needsReplacement(newest)) return null;
  if (isPermanentlyRejected(newest, transaction)) return null;
  if (obstacle !== null) return transaction.stateReason === obstacle ? null : { stateReason: obstacle };
  const sent = { ...newest.sent, outcome: 'underpriced' as const, answer: 'The base fee is above the offered fee.' };
  return { stateReason: 'REPRICING', attempts: replaceNewest(transaction, { ...newest, sent }) };
};

const abandonReplacement: TransitionStep<'abandonReplacement'> = (transaction, { reason }, { nowMs }) => {
  const attempts = signedAttempts(transaction);
  const newest = attempts.at(-1);
  if (newest === undefined || newest.sent === null) return null;
  // A payment that was given up is not resumed.
  if (isPermanentlyRejected(newest, transaction)) return null;
  const { cancelling, givenUp } = transaction;
  if (!needsReplacement(newest) && !needsCancellation(newest, cancelling)) return null;
  const sent = needsReplacement(newest) ? { ...newest.sent, outcome: 'refused' as const } : newest.sent;
  // No attempt can ever be included: it counts as lapsed when the time of all attempts is over.
  if (newest.sent.outcome === 'lapsed') {
    return { state: 'FAILED', stateReason: reason, attempts, watchedSinceMs: nowMs };
  }
  // A cancellation that is impossible is withdrawn. One that is broadcast stays.
  const stays = cancelling && newest.purpose === 'cancellation';
  // The payment is resumed, so its count of refusals restarts.
  const kept = stays || givenUp === null ? { ...newest, sent } : { ...newest, sent, refusal: null };
  const change = { stateReason: reason, cancelling: stays, attempts: [...attempts.slice(0, -1), kept] };
  return stays || givenUp === null ? change : { ...change, givenUp: null };
};

/** The allocator's result may not match the record any more. Then the request is repeated. */
const settle: TransitionStep<'settle'> = (transaction, { keepsCoins: kept = false }) =>
  outstandingJob(transaction) === 'settle' && kept === keepsReservation(transaction) ? { nonceHeld: false } : null;

const setVisibility: TransitionStep<'setVisibility'> = (transaction, { visible }) =>
  transaction.visibilityChoice === visible ? null : { visible, visibilityChoice: visible };

const PENDING_ROW: Row = { approve, reject, cancel, dropVotes, expire, setVisibility };

/** After an end, a block can still become final, be removed, or prove to have other contents. */
const ENDED: Row = {
  include: includeAgain,
  miss: handleReorg,
  gone: nameGone,
  correct: correctContents,
  settle,
  setVisibility,
};

/**
 * The one transition table. An event that is not in it is impossible: a member gets
 * `transaction-not-pending`, and a late message of a job changes nothing.
 */
const TABLE: Record<TransactionState, Row> = {
  DRAFT: PENDING_ROW,
  SUBMITTED: PENDING_ROW,
  SIGNING: {
    reject: rejectInSigning,
    cancel: cancelInSigning,
    cancelUnsigned,
    prepare,
    ask: markContacted,
    askInVain: markNotContacted,
    delaySigning,
    waitForNonce: waitInSigning,
    failSigning,
    fillNonce,
    sign,
    signMessage,
    setVisibility,
  },
  BROADCAST: {
    reject: rejectInBroadcast,
    cancel: cancelInBroadcast,
    endUnknown,
    prepare,
    ask: markContacted,
    askInVain: markNotContacted,
    sign,
    send,
    refuseBroadcast,
    failSigning,
    waitForNonce,
    endByTime: cancelAfterDeadline,
    speedUp,
    reprice,
    abandonReplacement,
    include,
    miss: notFoundInBroadcast,
    unshown: nameUnshown,
    lapse,
    setVisibility,
  },
  CONFIRMING: {
    reject: ifDisputed(rejectInBroadcast, 'transaction-not-pending'),
    cancel: ifDisputed(cancelInBroadcast, 'transaction-not-pending'),
    speedUp: ifDisputed(speedUp, 'transaction-not-broadcast'),
    include,
    miss: handleReorg,
    setVisibility,
  },
  SUCCEEDED: ENDED,
  FAILED: { ...ENDED, miss: notFoundAfterFailure, watch: resumeWatching },
  REJECTED: { setVisibility },
  CANCELLED: ENDED,
  EXPIRED: { setVisibility },
};

const PEOPLE: ReadonlySet<EventType> = new Set<EventType>(['approve', 'reject', 'cancel', 'endUnknown']);

/**
 * Returns the decision on an event. Pure: the same arguments give the same decision.
 *
 * Refuses, in order: `transaction-not-pending` for a member's event in any state that is not
 * pending (and for an approval at or after the expiry), `device-signature-required` for a decision
 * without one in device mode, `policy-forbids`, `transaction-not-broadcast` for a speed-up outside
 * BROADCAST. Events of jobs are never refused.
 */
export function decide(
  transaction: Transaction,
  event: TransactionEvent,
  context: DecisionContext,
): Result<Decision, Refusal> {
  const step = TABLE[transaction.state][event.type] as TransitionStep<EventType> | undefined;
  if (step === undefined) {
    if (event.type === 'speedUp') return refused({ code: 'transaction-not-broadcast', state: transaction.state });
    return PEOPLE.has(event.type)
      ? refused({ code: 'transaction-not-pending', state: transaction.state })
      : accepted({ transaction, changed: false, effects: [] });
  }
  const change = step(transaction, event, context);
  if (change === null) return accepted({ transaction, changed: false, effects: [] });
  if ('code' in change) return refused(change);
  const version = transaction.version + 1;
  const next = {
    ...transaction,
    ...withoutStaleBlocker(transaction, change),
    version,
    updatedAtMs: context.nowMs,
  };
  return accepted({ transaction: next, changed: true, effects: effectsOf(transaction, next) });
}

/** Returns the effects of creation: the job that the new record requires. */
export function effectsOfCreation(transaction: Transaction): readonly Effect[] {
  const job = outstandingJob(transaction);
  return job === null ? [] : [{ type: 'start', job }];
}

function effectsOf(before: Transaction, after: Transaction): readonly Effect[] {
  const [finished, started] = [outstandingJob(before), outstandingJob(after)];
  if (finished === started) return [];
  return [
    ...(finished === null ? [] : [{ type: 'finish', job: finished } as const]),
    ...(started === null ? [] : [{ type: 'start', job: started } as const]),
  ];
}

/** Reports whether bytes will never be signed: others take their nonce. */
function isGivenUp({ signed, purpose }: Attempt, transaction: Transaction): boolean {
  return signed === null && purpose !== nextPurpose(transaction);
}

/** Returns the speed of a replacement: after a wait without success it is not slow. */
export function replacementSpeed({ speed }: Pick<Transaction, 'speed'>): Speed {
  return speed === 'slow' ? 'normal' : speed;
}

/** Returns the purpose of a further attempt. */
export function nextPurpose({ cancelling }: Pick<Transaction, 'cancelling'>): AttemptPurpose {
  return cancelling ? 'cancellation' : 'intent';
}
