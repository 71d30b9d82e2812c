import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import { replacementSpeed } from '#domain/transaction/transition.ts';
import { alice, NOON_MS, PREPARED, preparedAttempt, sentAttempt, transactionIn } from '../cast.ts';
import { afterEvents } from './step.ts';

/** An attempt that no block takes for its price, raised by itself within the cap. */

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
  const raised = afterEvents(waiting(), reprice);
  expect([raised.stateReason, raised.attempts[0]?.sent?.outcome, outstandingJob(raised)]).toEqual([
    'REPRICING',
    'underpriced',
    'sign',
  ]);
  expect(afterEvents(raised, { type: 'prepare', attempt: PREPARED }).attempts.map(({ number }) => number)).toEqual([
    1, 2,
  ]);
});

test('a payment above its fee cap waits, reports so once, and is silent when blocks accept it again', () => {
  const short = afterEvents(waiting(), aboveCap);
  expect([short.state, short.stateReason, outstandingJob(short)]).toEqual(['BROADCAST', 'FEE_ABOVE_CAP', 'confirm']);
  expect(afterEvents(short, aboveCap, seen(true))).toBe(short);
  const fair = afterEvents(short, seen(false));
  expect([fair.state, fair.stateReason]).toEqual(['BROADCAST', null]);
  const cancelling = afterEvents(transactionIn('BROADCAST', { attempts: [sentAttempt()], cancelling: true }), aboveCap);
  expect(afterEvents(cancelling, seen(false)).stateReason).toBe('CANCELLING');
  // It is out of the mempool, so the base fee of the blocks does not show that it is too cheap.
  expect(afterEvents(short, seen(false, false)).stateReason).toBe('REBROADCASTING');
});

test('a report of an older attempt, of one that is replaced already, or of one that was not sent raises nothing', () => {
  const raised = afterEvents(waiting(), reprice);
  expect(afterEvents(raised, reprice)).toBe(raised);
  expect(afterEvents(waiting(), { ...reprice, attempt: 2 }).stateReason).toBeNull();
  const unsigned = transactionIn('BROADCAST', { attempts: [sentAttempt(), { ...preparedAttempt(), number: 2 }] });
  expect(afterEvents(unsigned, { ...reprice, attempt: 2 })).toBe(unsigned);
});

test('a payment that was given up because of the transactions above it is not raised', () => {
  const sent = { outcome: 'refused' as const, answer: 'no', atMs: NOON_MS, times: 1 };
  const up = transactionIn('BROADCAST', {
    attempts: [{ ...sentAttempt(), sent }],
    givenUp: 'REJECTED_BY_NODE',
    cancelling: true,
  });
  expect(afterEvents(up, reprice)).toBe(up);
});

test('the replacement of a slow payment has the normal speed', () => {
  expect((['slow', 'normal', 'fast'] as const).map((speed) => replacementSpeed({ speed }))).toEqual([
    'normal',
    'normal',
    'fast',
  ]);
  expect(afterEvents(waiting(), { type: 'speedUp', actor: alice }).stateReason).toBe('REPRICING');
});
