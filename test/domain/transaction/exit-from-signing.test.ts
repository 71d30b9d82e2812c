import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import { signedAttempts } from '#domain/transaction/transaction.ts';
import { alice, HASH, PREPARED, transactionIn } from '../cast.ts';
import { afterEvents } from './step.ts';

/** Covers the cancellation of an approved payment of which nothing is signed. */

const cancel: TransactionEvent = { type: 'cancel', actor: alice };
const end: TransactionEvent = { type: 'cancelUnsigned' };
const prepare: TransactionEvent = { type: 'prepare', attempt: PREPARED };
const sign = (attempt: number): TransactionEvent => ({ type: 'sign', attempt, raw: '0x02ff', hash: HASH });
const signing = () => transactionIn('SIGNING', { attempts: [], nonceHeld: true });

test('a cancelled payment ends with its reason, and its nonce is settled', () => {
  const cancelled = afterEvents(signing(), prepare, cancel);
  expect(cancelled).toMatchObject({ state: 'SIGNING', cancelling: true, stateReason: 'CANCELLING' });
  expect(outstandingJob(cancelled)).toBe('sign');
  const ended = afterEvents(cancelled, end);
  expect(ended).toMatchObject({ state: 'CANCELLED', stateReason: 'CANCELLED_BY_USER', nonceHeld: true });
  expect(outstandingJob(ended)).toBe('settle');
});

test('a signature that comes after the cancellation is dropped', () => {
  const cancelled = afterEvents(signing(), prepare, cancel);
  expect(afterEvents(cancelled, sign(1))).toBe(cancelled);
  const ended = afterEvents(cancelled, end);
  expect(afterEvents(ended, sign(1))).toBe(ended);
});

test('an attempt without effect uses the nonce of a cancelled payment when others wait above it', () => {
  const fill: TransactionEvent = { type: 'prepare', attempt: { ...PREPARED, purpose: 'cancellation' } };
  const filled = afterEvents(signing(), prepare, cancel, fill, sign(2));
  expect(filled).toMatchObject({ state: 'BROADCAST', cancelling: true, stateReason: 'CANCELLING' });
  expect(signedAttempts(filled).map(({ purpose }) => purpose)).toEqual(['cancellation']);
  // A late run of the job does not end what has signed bytes.
  expect(afterEvents(filled, end)).toBe(filled);
});

test('the job ends no payment that was not cancelled, or that was given up', () => {
  const prepared = afterEvents(signing(), prepare);
  expect(afterEvents(prepared, end)).toBe(prepared);
  const given = afterEvents(prepared, { type: 'fillNonce', reason: 'INSUFFICIENT_FUNDS', detail: null });
  expect(afterEvents(given, end)).toBe(given);
  expect(afterEvents(given, cancel)).toBe(given);
});
