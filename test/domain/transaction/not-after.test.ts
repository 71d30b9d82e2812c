import { expect, test } from 'vitest';
import { isPastNotAfter } from '#domain/transaction/not-after.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import { HASH, inclusion, NOON_MS, transactionIn, transferIntent } from '../cast.ts';
import { after, broadcast, cancellation, second, sentWith, step } from './step.ts';

/**
 * Covers a payment whose intent names an end: after the end no payment is signed or sent, and a
 * pending payment is cancelled.
 */

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const intent = { ...transferIntent(), notAfterMs: NOON_MS };
const END = { type: 'endByTime' } as const;
const GONE = { type: 'miss', inMempool: false, nonceTaken: false } as const;

test('a payment is cancelled at the end that its intent names, and never without such an end', () => {
  const waiting = broadcast([sentWith('accepted')], { intent });
  expect(step(waiting, END, NOON_MS - 1)).toBe(null);
  expect(step(broadcast([sentWith('accepted')]), END)).toBe(null);
  const ended = after(waiting, END);
  expect([ended.state, ended.stateReason, ended.cancelling, ended.givenUp]).toEqual([
    'BROADCAST',
    'NOT_AFTER_PASSED',
    true,
    'NOT_AFTER_PASSED',
  ]);
  expect(outstandingJob(ended)).toBe('sign');
  expect(step(ended, END, NOON_MS + DAY_MS)).toBe(null);
});

test('bytes that were signed and never sent may be out, so they are cancelled like sent bytes', () => {
  const unsent = { ...sentWith('accepted'), sent: null };
  const ended = after(broadcast([unsent], { intent }), END);
  expect(ended.attempts.map(({ sent }) => [sent?.outcome, sent?.times])).toEqual([['refused', 0]]);
  expect(outstandingJob(ended)).toBe('sign');
  // Co-signers refuse to sign the cancellation. The bytes may be out, so the payment does not fail.
  const failed = { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null } as const;
  expect(step(ended, failed)).toBe(null);
});

test('a payment that every RPC node refused at first is still watched after its end', () => {
  const ended = after(broadcast([sentWith('refused')], { intent }), END);
  expect(step(ended, { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null })).toBe(null);
  expect(step(ended, { type: 'abandonReplacement', reason: 'SIGNERS_REFUSED' })).toMatchObject({ cancelling: false });
});

test('a cancellation that cannot be made is tried again each hour, for as long as co-signers sign it', () => {
  const ended = after(broadcast([sentWith('accepted')], { intent }), END);
  const open = after(ended, { type: 'abandonReplacement', reason: 'SIGNERS_REFUSED' });
  expect([open.cancelling, open.givenUp, outstandingJob(open)]).toEqual([false, null, 'confirm']);
  expect(isPastNotAfter(open, NOON_MS + HOUR_MS - 1)).toBe(false);
  expect(isPastNotAfter(open, NOON_MS + HOUR_MS)).toBe(true);
  const lastMs = intent.expiresAtMs + 31 * DAY_MS;
  expect([isPastNotAfter(open, lastMs - 1), isPastNotAfter(open, lastMs)]).toEqual([true, false]);
  expect(step(open, END, NOON_MS + 2 * HOUR_MS)).toMatchObject({ cancelling: true });
});

test('a payment that the mempool dropped is sent again before its end, and not after it', () => {
  const waiting = broadcast([sentWith('accepted')], { intent });
  expect(step(waiting, GONE, NOON_MS - 1)).toMatchObject({ stateReason: 'REBROADCASTING' });
  expect(step(waiting, GONE)).toBe(null);
  // A dropped cancellation is sent again after the end, because it does not pay.
  const undone = broadcast([sentWith('accepted'), sentWith('accepted', { ...second, ...cancellation })], {
    intent,
    cancelling: true,
  });
  expect(step(undone, GONE)).toMatchObject({ stateReason: 'REBROADCASTING' });
});

test('the chain decides which attempt is mined, and the record states the matching end', () => {
  const ended = after(broadcast([sentWith('accepted')], { intent }), END);
  const both = { ...ended, attempts: [sentWith('accepted'), sentWith('accepted', { ...second, ...cancellation })] };
  const mined = (hash: string) =>
    after(both, { type: 'include', inclusion: inclusion({ hash, confirmations: 3 }), confirmationsNeeded: 3 });
  const [paid, undone] = [mined(HASH), mined(second.signed.hash)];
  expect([paid.state, paid.stateReason]).toEqual(['SUCCEEDED', null]);
  expect([undone.state, undone.stateReason]).toEqual(['FAILED', 'NOT_AFTER_PASSED']);
});

test('a payment that is in a block or not broadcast has nothing to cancel at its end', () => {
  for (const state of ['SUBMITTED', 'SIGNING', 'CONFIRMING', 'SUCCEEDED', 'FAILED'] as const) {
    expect(step(transactionIn(state, { intent }), END)).toBe(null);
  }
});
