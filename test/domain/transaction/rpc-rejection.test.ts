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
