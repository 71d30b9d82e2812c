import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/event.ts';
import { outstandingJob } from '#domain/job.ts';
import { countRefusal, MAX_IDENTICAL_REFUSALS, refusalShown } from '#domain/node-refusal.ts';
import type { Transaction } from '#domain/transaction.ts';
import { decide } from '#domain/transition.ts';
import { NOON_MS, policy, PREPARED, sentAttempt, signedAttempt, transactionIn, UNSPENT } from './cast.ts';

/** What RPC nodes answer to bytes that they do not take, and when a person sees it. */

function after(transaction: Transaction, ...events: readonly TransactionEvent[]): Transaction {
  return events.reduce((before, event) => {
    const decided = decide(before, event, { nowMs: NOON_MS, policy, spentOf: UNSPENT });
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

test('words that no one has classified are shown when the nodes have repeated them, and not before', () => {
  const twice = after(unsent(), answered(BLACK_LIST), answered(BLACK_LIST));
  expect(refusalShown(twice)).toBeNull();
  expect(refusalShown(after(twice, answered(BLACK_LIST)))).toBe(BLACK_LIST);
});

test('other words, taken bytes and another attempt begin again', () => {
  const shown = after(unsent(), ...Array.from({ length: MAX_IDENTICAL_REFUSALS }, () => answered(BLACK_LIST)));
  expect(refusalShown(after(shown, answered('txpool is full')))).toBeNull();
  const taken = after(shown, { type: 'send', attempt: 1, outcome: 'accepted', answer: null });
  expect([refusalShown(taken), taken.attempts[0]?.refusal]).toEqual([null, null]);
  const cancelling = after(shown, { type: 'cancel', actor: taken.createdBy });
  const next = after(cancelling, { type: 'prepare', attempt: { ...PREPARED, purpose: 'cancellation' } });
  expect(refusalShown(next)).toBeNull();
});

test('numbers and hashes do not tell two refusals apart', () => {
  const first = countRefusal(null, 'insufficient funds: address 0x5aAe have 10 want 12.5');
  const second = countRefusal(first, 'Insufficient funds: address 0x5aae have 9 want 13');
  expect(second).toEqual({ answer: 'Insufficient funds: address 0x5aae have 9 want 13', times: 2 });
  expect(countRefusal(second, 'nonce too high').times).toBe(1);
});

test('a look at the mempool between two refusals does not hide the first', () => {
  const refused: TransactionEvent = { type: 'send', attempt: 1, outcome: 'refused', answer: BLACK_LIST };
  const looked = after(unsent(), refused, missed, refused, missed, refused, missed);
  expect([looked.stateReason, refusalShown(looked)]).toEqual(['REBROADCASTING', BLACK_LIST]);
});

test('a record rests once its refusals repeat, so that it looks stuck, and moves with the next other answer', () => {
  const shown = after(unsent(), ...Array.from({ length: MAX_IDENTICAL_REFUSALS }, () => answered(BLACK_LIST)));
  const rested = after(shown, answered(BLACK_LIST), answered(BLACK_LIST));
  expect(rested).toBe(shown);
  expect(outstandingJob(rested)).toBe('broadcast');
  expect(after(rested, answered('no answer in time')).version).toBe(shown.version + 1);
  // An answer without words is not counted as a repeat.
  expect(after(rested, answered(null)).version).toBe(shown.version + 1);
});

test('a payment that has failed at the first refusal shows its words', () => {
  const failed = after(unsent(), { type: 'refuseBroadcast', attempt: 1, answer: BLACK_LIST });
  expect([failed.state, refusalShown(failed)]).toEqual(['FAILED', BLACK_LIST]);
  expect(refusalShown(transactionIn('SUCCEEDED'))).toBeNull();
  expect(refusalShown(transactionIn('FAILED'))).toBeNull();
});

test('records of before have no refusals', () => {
  expect(refusalShown(transactionIn('BROADCAST', { attempts: [sentAttempt()] }))).toBeNull();
});
