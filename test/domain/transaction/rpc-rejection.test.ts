import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import { countRejection, MAX_IDENTICAL_REJECTIONS, publicRejection } from '#domain/transaction/rpc-rejection.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import {
  alice,
  HASH,
  inclusion,
  NOON_MS,
  OTHER_HASH,
  policy,
  PREPARED,
  sentAttempt,
  signedAttempt,
  transactionIn,
  UNSPENT,
} from '../cast.ts';

/** Covers the answers of RPC nodes that refuse bytes, and when people see these answers. */

/**
 * Applies the events at intervals of 15 minutes, because bytes that are dropped repeatedly are sent
 * less often.
 */
function after(transaction: Transaction, ...events: readonly TransactionEvent[]): Transaction {
  return events.reduce((before, event) => {
    const nowMs = before.updatedAtMs < NOON_MS ? NOON_MS : before.updatedAtMs + 15 * 60_000;
    const decided = decide(before, event, { nowMs, policy, spentOf: UNSPENT });
    if (!decided.ok) throw new Error(`refused: ${decided.refusal.code}`);
    return decided.value.transaction;
  }, transaction);
}

const BLACK_LIST = 'sender is on a list of this node';
const unsent = () => transactionIn('BROADCAST', { attempts: [signedAttempt()] });
const answered = (answer: string | null): TransactionEvent => ({
  type: 'send',
  attempt: 1,
  outcome: 'unknown',
  answer,
});
const missed: TransactionEvent = { type: 'miss', inMempool: false, nonceTaken: false };

test('an unclassified message is shown only when the RPC nodes have repeated it', () => {
  const twice = after(unsent(), answered(BLACK_LIST), answered(BLACK_LIST));
  expect(publicRejection(twice)).toBeNull();
  expect(publicRejection(after(twice, answered(BLACK_LIST)))).toBe(BLACK_LIST);
});

test('another message, accepted bytes or another attempt restarts the number of identical refusals', () => {
  const shown = after(unsent(), ...Array.from({ length: MAX_IDENTICAL_REJECTIONS }, () => answered(BLACK_LIST)));
  expect(publicRejection(after(shown, answered('txpool is full')))).toBeNull();
  const taken = after(shown, { type: 'send', attempt: 1, outcome: 'accepted', answer: null });
  expect([publicRejection(taken), taken.attempts[0]?.refusal]).toEqual([null, null]);
  const cancelling = after(shown, { type: 'cancel', actor: taken.createdBy });
  const next = after(cancelling, { type: 'prepare', attempt: { ...PREPARED, purpose: 'cancellation' } });
  expect(publicRejection(next)).toBeNull();
});

test('two refusals that differ only in numbers and hashes count as identical', () => {
  const first = countRejection(null, 'insufficient funds: address 0x5aAe have 10 want 12.5');
  const second = countRejection(first, 'Insufficient funds: address 0x5aae have 9 want 13');
  expect(second).toEqual({ answer: 'Insufficient funds: address 0x5aae have 9 want 13', times: 2 });
  expect(countRejection(second, 'nonce too high').times).toBe(1);
});

test('a check of the mempool between two refusals does not reset the number of refusals', () => {
  const refused: TransactionEvent = { type: 'send', attempt: 1, outcome: 'refused', answer: BLACK_LIST };
  const observed = after(unsent(), refused, missed, refused, missed, refused, missed);
  expect([observed.stateReason, publicRejection(observed)]).toEqual(['REBROADCASTING', BLACK_LIST]);
});

test('a record whose refusals repeat does not change, so that it appears stuck, until another answer arrives', () => {
  const shown = after(unsent(), ...Array.from({ length: MAX_IDENTICAL_REJECTIONS }, () => answered(BLACK_LIST)));
  const rested = after(shown, answered(BLACK_LIST), answered(BLACK_LIST));
  expect(rested).toBe(shown);
  expect(outstandingJob(rested)).toBe('broadcast');
  expect(after(rested, answered('No response in time.')).version).toBe(shown.version + 1);
  // An answer without a message is not counted as a repeat.
  expect(after(rested, answered(null)).version).toBe(shown.version + 1);
});

const repeat = (objection?: { readonly answer: string; readonly isPrice: boolean }): TransactionEvent => ({
  type: 'send',
  attempt: 1,
  outcome: 'accepted',
  answer: null,
  isRepeated: true,
  ...(objection === undefined ? {} : { objection }),
});
const object = repeat({ answer: BLACK_LIST, isPrice: false });
const tooCheap = repeat({ answer: 'transaction underpriced', isPrice: true });
const stand = (one: Transaction) => [one.stateReason, outstandingJob(one), publicRejection(one)];

test('a refusal beside an acceptance is shown when it repeats, and hidden when every RPC node has the bytes', () => {
  const first = after(unsent(), { type: 'send', attempt: 1, outcome: 'accepted', answer: null });
  const twice = after(first, object, object);
  expect(after(unsent(), object)).toEqual(unsent());
  expect(stand(twice)).toEqual([null, 'confirm', null]);
  const shown = after(twice, object);
  expect(stand(shown)).toEqual(['REFUSED_BY_NODE', 'confirm', BLACK_LIST]);
  expect(after(shown, object, object)).toBe(shown);
  expect(stand(after(shown, repeat()))).toEqual([null, 'confirm', null]);
  const inPool = (isWithheld: boolean): TransactionEvent => ({ ...missed, inMempool: true, isWithheld });
  expect(after(shown, inPool(true))).toBe(shown);
  expect(after(shown, inPool(false)).stateReason).toBeNull();
});

test('a fee that one RPC node calls too low, beside an acceptance, is raised after ten minutes and not before', () => {
  const at = (transaction: Transaction, ms: number) => {
    const decided = decide(transaction, tooCheap, { nowMs: NOON_MS + ms, policy, spentOf: UNSPENT });
    return decided.ok ? decided.value.transaction : transaction;
  };
  const { signed, ...bytes } = signedAttempt();
  const now = { ...bytes, signed: signed === null ? null : { ...signed, atMs: NOON_MS } };
  const fresh = after(transactionIn('BROADCAST', { attempts: [now] }), {
    type: 'send',
    attempt: 1,
    outcome: 'accepted',
    answer: null,
  });
  const early = [1, 2, 3].reduce((one, step) => at(one, step * 1_000), fresh);
  expect(stand(early)).toEqual(['REFUSED_BY_NODE', 'confirm', 'transaction underpriced']);
  expect(at(early, 9 * 60_000)).toBe(early);
  const late = at(early, 11 * 60_000);
  expect([late.stateReason, outstandingJob(late), late.attempts[0]?.sent?.outcome]).toEqual([
    'REPRICING',
    'sign',
    'underpriced',
  ]);
});

test('a cancellation that every RPC node refuses with the same answer is made again, at growing intervals', () => {
  const refuse = (attempt: number): TransactionEvent => ({ type: 'refuseBroadcast', attempt, answer: 'intrinsic gas' });
  const at = (transaction: Transaction, event: TransactionEvent, ms: number) => {
    const decided = decide(transaction, event, { nowMs: NOON_MS + ms, policy, spentOf: UNSPENT });
    return decided.ok ? decided.value.transaction : transaction;
  };
  const cancellation = { ...PREPARED, purpose: 'cancellation' } as const;
  const waiting = transactionIn('BROADCAST', { attempts: [sentAttempt()] });
  const cancelling = at(waiting, { type: 'cancel', actor: alice }, 0);
  const prepared = at(cancelling, { type: 'prepare', attempt: cancellation }, 0);
  const signed = at(prepared, { type: 'sign', attempt: 2, raw: '0x02', hash: OTHER_HASH }, 0);
  const early = [1, 2, 3].reduce((one, second) => at(one, refuse(2), second * 1_000), signed);
  expect(stand(early)).toEqual(['REFUSED_BY_NODE', 'confirm', 'intrinsic gas']);
  const late = at(early, refuse(2), 31_000);
  expect([late.state, late.stateReason, outstandingJob(late)]).toEqual(['BROADCAST', 'REPRICING', 'sign']);
  const again = at(late, { type: 'prepare', attempt: cancellation }, 32_000);
  const second = at(again, { type: 'sign', attempt: 3, raw: '0x02', hash: HASH }, 32_000);
  const refusedAgain = [1, 2, 3, 50].reduce((one, seconds) => at(one, refuse(3), 32_000 + seconds * 1_000), second);
  expect(outstandingJob(refusedAgain)).toBe('confirm');
  expect(outstandingJob(at(refusedAgain, refuse(3), 95_000))).toBe('sign');
  // A payment is never made again by itself.
  const paying = [1, 2, 3].reduce((one, s) => at(one, refuse(1), s * 1_000), waiting);
  expect([paying.stateReason, paying.attempts.length]).toEqual(['REJECTED_BY_NODE', 1]);
});

test('a payment that has failed at the first refusal shows the message of that refusal', () => {
  const failed = after(unsent(), { type: 'refuseBroadcast', attempt: 1, answer: BLACK_LIST });
  expect([failed.state, publicRejection(failed)]).toEqual(['FAILED', BLACK_LIST]);
  expect(publicRejection(transactionIn('SUCCEEDED'))).toBeNull();
  expect(publicRejection(transactionIn('FAILED'))).toBeNull();
});

test('older records have no refusals', () => {
  expect(publicRejection(transactionIn('BROADCAST', { attempts: [sentAttempt()] }))).toBeNull();
});

const SHORT = 'insufficient funds for gas * price + value: address 0x5aAe have 10 want 12';
const timedOut = answered('No response in time.');
const refused: TransactionEvent = { type: 'refuseBroadcast', attempt: 1, answer: SHORT, blocksOthers: false };

test('a payment that may be out and that every RPC node refuses repeatedly is cancelled at its nonce, and fails', () => {
  const circling = after(unsent(), timedOut, refused, missed, refused, missed);
  expect([circling.state, circling.cancelling, outstandingJob(circling)]).toEqual(['BROADCAST', false, 'broadcast']);
  const filling = after(circling, refused);
  expect([filling.givenUp, filling.stateReason, publicRejection(filling), outstandingJob(filling)]).toEqual([
    'REJECTED_BY_NODE',
    'REJECTED_BY_NODE',
    SHORT,
    'sign',
  ]);
  // The bytes may be out, so the payment does not end when co-signers refuse the cancellation.
  expect(after(filling, { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null })).toBe(filling);
  const cancelled = after(
    filling,
    { type: 'prepare', attempt: { ...PREPARED, payload: '0x0299', purpose: 'cancellation' } },
    { type: 'sign', attempt: 2, raw: '0x02ee', hash: OTHER_HASH },
    { type: 'send', attempt: 2, outcome: 'accepted', answer: null },
  );
  const found = inclusion({ hash: OTHER_HASH, confirmations: 9, finalized: true });
  const ended = after(cancelled, { type: 'include', inclusion: found, confirmationsNeeded: 3 });
  expect([ended.state, ended.stateReason, publicRejection(ended), outstandingJob(ended)]).toEqual([
    'FAILED',
    'REJECTED_BY_NODE',
    SHORT,
    'settle',
  ]);
  // The chain included the payment and not the cancellation, so the payment has succeeded.
  const paid = { ...found, hash: HASH };
  expect(after(cancelled, { type: 'include', inclusion: paid, confirmationsNeeded: 3 }).state).toBe('SUCCEEDED');
});

test('refusals with other messages, or interrupted by an acceptance, do not count as repeated', () => {
  const other = { ...refused, answer: 'invalid sender' };
  expect(after(unsent(), timedOut, refused, other, refused, other).givenUp ?? null).toBeNull();
  const taken: TransactionEvent = { type: 'send', attempt: 1, outcome: 'accepted', answer: null };
  expect(after(unsent(), timedOut, refused, refused, taken, refused).givenUp ?? null).toBeNull();
});

test('a payment whose cancellation cannot be made is resumed, and given up only after three more refusals', () => {
  const filling = after(unsent(), timedOut, refused, refused, refused);
  const kept = after(filling, { type: 'abandonReplacement', reason: 'SIGNERS_REFUSED' });
  expect([kept.givenUp, kept.cancelling, outstandingJob(kept)]).toEqual([null, false, 'confirm']);
  expect(after(kept, missed, refused, missed, refused).givenUp).toBeNull();
  expect(after(kept, missed, refused, missed, refused, missed, refused).givenUp).toBe('REJECTED_BY_NODE');
});

test('a payment that a person already cancels is not given up', () => {
  const cancelled = after(unsent(), timedOut, { type: 'cancel', actor: alice }, refused, refused, refused);
  expect([cancelled.givenUp ?? null, cancelled.cancelling]).toEqual([null, true]);
});
