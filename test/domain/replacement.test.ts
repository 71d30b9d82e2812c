import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/event.ts';
import { outstandingJob } from '#domain/job.ts';
import type { Transaction } from '#domain/transaction.ts';
import { decide } from '#domain/transition.ts';
import type { Decision } from '#domain/transition.ts';
import {
  alice,
  bob,
  HASH,
  inclusion,
  NOON_MS,
  policy,
  PREPARED,
  signedAttempt,
  transactionIn,
  UNSPENT,
} from './cast.ts';

/** Further attempts at one nonce, and when none can be had. */

function after(transaction: Transaction, event: TransactionEvent): Decision {
  const decided = decide(transaction, event, { nowMs: NOON_MS, policy, spentOf: UNSPENT });
  if (!decided.ok) throw new Error(`refused: ${decided.refusal.code}`);
  return decided.value;
}

const cheap = () =>
  transactionIn('BROADCAST', {
    attempts: [{ ...signedAttempt(), sent: { outcome: 'underpriced', answer: null, atMs: NOON_MS, times: 1 } }],
  });

test('a faster attempt that can not be had leaves the ones that are out to the chain', () => {
  const repricing = cheap();
  expect(outstandingJob(repricing)).toBe('sign');
  const abandon: TransactionEvent = { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' };
  const given = after(repricing, abandon).transaction;
  expect([given.state, given.stateReason, outstandingJob(given)]).toEqual(['BROADCAST', 'FEE_CAP_EXCEEDED', 'confirm']);
  expect(after(given, abandon).changed).toBe(false);
  const mined = after(given, { type: 'include', inclusion: inclusion(), confirmationsNeeded: 1 }).transaction;
  expect(mined.state).toBe('SUCCEEDED');
});

test('bytes that were prepared for a replacement and never signed go, those before them stay', () => {
  const prepared = after(cheap(), { type: 'prepare', attempt: { ...PREPARED, payload: '0x0299' } }).transaction;
  expect([prepared.attempts.length, outstandingJob(prepared)]).toEqual([2, 'sign']);
  const given = after(prepared, { type: 'abandonReplacement', reason: 'SIGNERS_REFUSED' }).transaction;
  expect([given.attempts.length, given.attempts[0]?.signed?.hash, outstandingJob(given)]).toEqual([1, HASH, 'confirm']);
  // A late run of the signing job finds nothing to give up a second time.
  expect(after(given, { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null }).changed).toBe(false);
});

test('what was refused and is nowhere is sent again: the network may want it by now', () => {
  const given = after(cheap(), { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' }).transaction;
  const missed = after(given, { type: 'miss', inMempool: false, nonceTaken: false }).transaction;
  expect([missed.stateReason, outstandingJob(missed)]).toEqual(['REBROADCASTING', 'broadcast']);
});

test('a faster attempt is asked for once, and only of what is on its way', () => {
  const asked = after(transactionIn('BROADCAST'), { type: 'speedUp', actor: alice }).transaction;
  expect([asked.stateReason, asked.attempts[0]?.sent?.outcome, outstandingJob(asked)]).toEqual([
    'REPRICING',
    'underpriced',
    'sign',
  ]);
  expect(after(asked, { type: 'speedUp', actor: bob }).changed).toBe(false);
  const unsent = transactionIn('BROADCAST', { attempts: [signedAttempt()] });
  expect(after(unsent, { type: 'speedUp', actor: alice }).changed).toBe(false);
});
