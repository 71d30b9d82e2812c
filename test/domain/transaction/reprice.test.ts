import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import { replacementSpeed } from '#domain/transaction/transition.ts';
import { alice, NOON_MS, PREPARED, preparedAttempt, sentAttempt, transactionIn } from '../cast.ts';
import { afterEvents } from './step.ts';

/**
 * Covers an attempt whose price is too low for any block: the service raises the price itself
 * within the cap.
 */

const waiting = () => transactionIn('BROADCAST', { attempts: [sentAttempt()] });
const reprice: TransactionEvent = { type: 'reprice', attempt: 1, obstacle: null };
const aboveCap: TransactionEvent = { type: 'reprice', attempt: 1, obstacle: 'FEE_ABOVE_CAP' };
const seen = (isTooCheap: boolean, inMempool = true): TransactionEvent => ({
  type: 'miss',
  inMempool,
  nonceTaken: false,
  isTooCheap,
});

test('an attempt whose price is too low is followed by another attempt at the same nonce', () => {
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

test('a payment above its fee cap waits, reports this once, and no longer when blocks accept its price again', () => {
  const short = afterEvents(waiting(), aboveCap);
  expect([short.state, short.stateReason, outstandingJob(short)]).toEqual(['BROADCAST', 'FEE_ABOVE_CAP', 'confirm']);
  expect(afterEvents(short, aboveCap, seen(true))).toBe(short);
  const fair = afterEvents(short, seen(false));
  expect([fair.state, fair.stateReason]).toEqual(['BROADCAST', null]);
  const cancelling = afterEvents(transactionIn('BROADCAST', { attempts: [sentAttempt()], cancelling: true }), aboveCap);
  expect(afterEvents(cancelling, seen(false)).stateReason).toBe('CANCELLING');
  // The attempt is not in the mempool. The reason is then the resend, and not its price.
  expect(afterEvents(short, seen(false, false)).stateReason).toBe('REBROADCASTING');
});

test('a report of an older, an already replaced, or an unsent attempt raises no price', () => {
  const raised = afterEvents(waiting(), reprice);
  expect(afterEvents(raised, reprice)).toBe(raised);
  expect(afterEvents(waiting(), { ...reprice, attempt: 2 }).stateReason).toBeNull();
  const unsigned = transactionIn('BROADCAST', { attempts: [sentAttempt(), { ...preparedAttempt(), number: 2 }] });
  expect(afterEvents(unsigned, { ...reprice, attempt: 2 })).toBe(unsigned);
});

test('a payment that was given up and is being cancelled is not raised', () => {
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
