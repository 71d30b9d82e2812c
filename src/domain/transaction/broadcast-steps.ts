import type { EventOf } from '#domain/transaction/event.ts';
import { countRejection, isRejectedRepeatedly } from '#domain/transaction/rpc-rejection.ts';
import type { TransactionChange, TransitionStep } from '#domain/transaction/step.ts';
import { replaceNewest } from '#domain/transaction/step.ts';
import type { Attempt, SendOutcome, Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt, signedAttempts } from '#domain/transaction/transaction.ts';

export const send: TransitionStep<'send'> = (transaction, event, { nowMs }) => {
  const newest = newestAttempt(transaction);
  if (newest === null || newest.number !== event.attempt || newest.signed === null) return null;
  if (event.isRepeated === true) return sendAgain(transaction, newest, { event, nowMs });
  const outcome = outcomeAfter(newest.sent?.outcome, event.outcome);
  if (outcome === null) return null;
  const sent = { outcome, answer: event.answer, atMs: nowMs, times: (newest.sent?.times ?? 0) + 1 };
  const counted = refusedAgain(newest, event);
  const isRefusedElsewhere = event.objection !== undefined && isRejectedRepeatedly(counted.refusal ?? null);
  // A record that changes with each repetition would never look stuck to operators.
  const isOpen = outcome === 'unknown' || outcome === 'undecided';
  const isRepeat = isOpen && newest.sent?.outcome === outcome;
  if (isRepeat && isRejectedRepeatedly(newest.refusal) && (counted.refusal?.times ?? 0) > 1) return null;
  const stateReason = {
    accepted: isRefusedElsewhere ? 'REFUSED_BY_NODE' : usualReason(transaction),
    unknown: 'REBROADCASTING',
    underpriced: 'REPRICING',
    lapsed: 'SIGNING_AGAIN',
    refused: 'REFUSED_BY_NODE',
    undecided: 'REFUSED_BY_NODE',
  }[outcome];
  return { stateReason, attempts: replaceNewest(transaction, { ...newest, sent, ...counted }) };
};

/**
 * How long bytes wait that one RPC node accepts, while another one calls their fee too low, before
 * the fee is raised: the node that accepts them relays them to no miner. Ours.
 */
const UNRELAYED_MS = 10 * 60_000;

/**
 * Returns the change when an RPC node accepts bytes that it has accepted before. The refusal of
 * another one is shown when it repeats: the first node may not relay them.
 */
function sendAgain(
  transaction: Transaction,
  newest: Attempt,
  { event, nowMs }: { readonly event: EventOf<'send'>; readonly nowMs: number },
): TransactionChange | null {
  const { stateReason } = transaction;
  const { objection } = event;
  // The bytes are sent anew meanwhile, and that send reports for itself.
  if (newest.sent?.outcome !== 'accepted') return null;
  const counted = { ...newest, ...refusedAgain(newest, event) };
  if (objection === undefined) {
    const shown = stateReason === 'REFUSED_BY_NODE' ? usualReason(transaction) : stateReason;
    const isSame = newest.refusal === null && shown === stateReason;
    return isSame ? null : { stateReason: shown, attempts: replaceNewest(transaction, counted) };
  }
  const isRepeated = isRejectedRepeatedly(counted.refusal);
  const sinceMs = nowMs - (newest.signed?.atMs ?? nowMs);
  if (isRepeated && objection.isPrice && sinceMs >= UNRELAYED_MS) {
    const sent = { ...newest.sent, outcome: 'underpriced' as const, answer: objection.answer };
    return { stateReason: 'REPRICING', attempts: replaceNewest(transaction, { ...newest, sent }) };
  }
  // A record that changes with each repetition would never look stuck to operators.
  if (isRejectedRepeatedly(newest.refusal) && isRepeated) return null;
  const isUsual = stateReason === usualReason(transaction) || stateReason === 'REBROADCASTING';
  return {
    stateReason: isRepeated && isUsual ? 'REFUSED_BY_NODE' : stateReason,
    attempts: replaceNewest(transaction, counted),
  };
}

function usualReason({ cancelling }: Transaction): 'CANCELLING' | null {
  return cancelling ? 'CANCELLING' : null;
}

/**
 * Returns the new outcome, or null for a late report. Bytes that may be broadcast stay `unknown`.
 */
function outcomeAfter(before: SendOutcome | undefined, outcome: SendOutcome): SendOutcome | null {
  if (outcome !== 'undecided' || before === undefined || before === 'undecided') return outcome;
  return before === 'unknown' ? before : null;
}

/**
 * Returns the refusal after one more answer: none for bytes that every RPC node accepts, the same
 * without a text.
 */
function refusedAgain(
  { refusal }: Attempt,
  { outcome, answer, objection }: Pick<EventOf<'send'>, 'outcome' | 'answer' | 'objection'>,
): Partial<Pick<Attempt, 'refusal'>> {
  if (objection !== undefined) return { refusal: countRejection(refusal, objection.answer) };
  if (outcome === 'accepted') return refusal === null ? {} : { refusal: null };
  return answer === null ? {} : { refusal: countRejection(refusal, answer) };
}

/**
 * Fails only when the network never accepted any attempt; bytes that may be broadcast are watched.
 * A payment must not block others when no RPC node has its only bytes, or when none has them and
 * all refuse them repeatedly: a cancellation takes its nonce, and the chain decides between the
 * two.
 */
export const refuseBroadcast: TransitionStep<'refuseBroadcast'> = (transaction, event, context) => {
  // A refusal of this attempt by all RPC nodes does not concern the earlier attempts.
  const touched = transaction.attempts.some(
    ({ number, sent }) => sent !== null && (number !== event.attempt || sent.outcome !== 'undecided'),
  );
  const newest = newestAttempt(transaction);
  if (newest?.number !== event.attempt) return null;
  const counted = { ...newest, ...refusedAgain(newest, { ...event, outcome: 'refused' }) };
  if (!touched && event.blocksOthers !== true && event.keepsCoins !== true) {
    return { state: 'FAILED', stateReason: 'REJECTED_BY_NODE', attempts: replaceNewest(transaction, counted) };
  }
  const change = send(transaction, { ...event, type: 'send', outcome: 'refused' }, context);
  // No other payment waits for a UTXO nonce, and a cancellation costs a fee: a member requests it.
  if (event.keepsCoins === true) {
    return change === null || 'code' in change ? change : { ...change, stateReason: 'REJECTED_BY_NODE' };
  }
  if (change !== null && isPreparedAgain(transaction, counted, context.nowMs)) {
    const sent = { outcome: 'underpriced' as const, answer: event.answer, atMs: context.nowMs, times: 1 };
    return { stateReason: 'REPRICING', attempts: replaceNewest(transaction, { ...counted, sent }) };
  }
  const isOnly = signedAttempts(transaction).length === 1 && !transaction.cancelling;
  // Only money or other bytes can help, and meanwhile the wallet cannot use the nonce.
  const isHopeless = isRejectedRepeatedly(counted.refusal) && !transaction.cancelling;
  if (change === null || !((event.blocksOthers === true && isOnly) || isHopeless)) return change;
  return { ...change, cancelling: true, givenUp: 'REJECTED_BY_NODE', stateReason: 'REJECTED_BY_NODE' };
};

/** The first wait is ours; each further one is twice as long, up to an hour. */
const FIRST_AGAIN_MS = 30_000;
const MAX_AGAIN_MS = 60 * 60_000;

/**
 * Reports whether a cancellation is made again by a fresh quote: every RPC node refuses these bytes
 * with the same answer, so the quote was false, and the wallet stands until the nonce is used.
 */
function isPreparedAgain({ attempts }: Transaction, newest: Attempt, nowMs: number): boolean {
  if (newest.purpose !== 'cancellation' || !isRejectedRepeatedly(newest.refusal)) return false;
  const made = attempts.filter(({ purpose }) => purpose === 'cancellation').length;
  const waitMs = Math.min(FIRST_AGAIN_MS * 2 ** Math.min(made - 1, 10), MAX_AGAIN_MS);
  return nowMs - (newest.signed?.atMs ?? nowMs) >= waitMs;
}
