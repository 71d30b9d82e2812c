import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { decide, replacementSpeed } from '#domain/transaction/transition.ts';
import { alice, NOON_MS, policy, PREPARED, preparedAttempt, sentAttempt, transactionIn, UNSPENT } from '../cast.ts';

/** An attempt that no block takes for its price, raised by itself within the cap. */

function after(transaction: Transaction, ...events: readonly TransactionEvent[]): Transaction {
  return events.reduce((before, event) => {
    const decided = decide(before, event, { nowMs: NOON_MS, policy, spentOf: UNSPENT });
    if (!decided.ok) throw new Error(`refused: ${decided.refusal.code}`);
    return decided.value.transaction;
  }, transaction);
}

const waiting = () => transactionIn('BROADCAST', { attempts: [sentAttempt()] });
const reprice: TransactionEvent = { type: 'reprice', attempt: 1, obstacle: null };
const aboveCap: TransactionEvent = { type: 'reprice', attempt: 1, obstacle: 'FEE_ABOVE_CAP' };
const seen = (isTooCheap: boolean, inMempool = true): TransactionEvent => ({
  type: 'miss',
  inMempool,
  nonceTaken: false,
  isTooCheap,
});

test('an attempt that offers too little is followed by another at its nonce', () => {
  const raised = after(waiting(), reprice);
  expect([raised.stateReason, raised.attempts[0]?.sent?.outcome, outstandingJob(raised)]).toEqual([
    'REPRICING',
    'underpriced',
    'sign',
  ]);
  expect(after(raised, { type: 'prepare', attempt: PREPARED }).attempts.map(({ number }) => number)).toEqual([1, 2]);
});

test('where the cap does not suffice it waits, says so once, and says nothing more when blocks take it again', () => {
  const short = after(waiting(), aboveCap);
  expect([short.state, short.stateReason, outstandingJob(short)]).toEqual(['BROADCAST', 'FEE_ABOVE_CAP', 'confirm']);
  expect(after(short, aboveCap, seen(true))).toBe(short);
  const fair = after(short, seen(false));
  expect([fair.state, fair.stateReason]).toEqual(['BROADCAST', null]);
  const cancelling = after(transactionIn('BROADCAST', { attempts: [sentAttempt()], cancelling: true }), aboveCap);
  expect(after(cancelling, seen(false)).stateReason).toBe('CANCELLING');
  // It is out of the mempool: what blocks burn says nothing of that.
  expect(after(short, seen(false, false)).stateReason).toBe('REBROADCASTING');
});

test('a report of an older attempt, of one that is replaced already, or of one that was not sent raises nothing', () => {
  const raised = after(waiting(), reprice);
  expect(after(raised, reprice)).toBe(raised);
  expect(after(waiting(), { ...reprice, attempt: 2 }).stateReason).toBeNull();
  const unsigned = transactionIn('BROADCAST', { attempts: [sentAttempt(), { ...preparedAttempt(), number: 2 }] });
  expect(after(unsigned, { ...reprice, attempt: 2 })).toBe(unsigned);
});

test('a payment that was given up for what waits above it is not raised', () => {
  const sent = { outcome: 'refused' as const, answer: 'no', atMs: NOON_MS, times: 1 };
  const up = transactionIn('BROADCAST', {
    attempts: [{ ...sentAttempt(), sent }],
    givenUp: 'REJECTED_BY_NODE',
    cancelling: true,
  });
  expect(after(up, reprice)).toBe(up);
});

test('who has waited in vain is not slow any more', () => {
  expect((['slow', 'normal', 'fast'] as const).map((speed) => replacementSpeed({ speed }))).toEqual([
    'normal',
    'normal',
    'fast',
  ]);
  expect(after(waiting(), { type: 'speedUp', actor: alice }).stateReason).toBe('REPRICING');
});
