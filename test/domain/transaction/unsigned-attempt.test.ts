import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { isStale } from '#domain/transaction/unsigned-attempt.ts';
import { HASH, PREPARED, preparedAttempt, sentAttempt, transactionIn } from '../cast.ts';
import { afterEvents } from './step.ts';

/**
 * Covers unsigned bytes whose price is outdated: they are dropped only if it is certain that no
 * co-signer has begun to sign them.
 */

const FRESH_DIGEST = `0x${'dd'.repeat(32)}`;
const mine = { ...PREPARED, preparedBy: 'first' };
const prepare: TransactionEvent = { type: 'prepare', attempt: mine };
const { signingDigest } = PREPARED;
const inVain: TransactionEvent = { type: 'askInVain', signingDigest, run: 'first' };
const contact: TransactionEvent = { type: 'ask', signingDigest };
const instead: TransactionEvent = {
  type: 'prepare',
  attempt: { ...mine, payload: '0x0203', signingDigest: FRESH_DIGEST, preparedBy: 'second' },
  instead: signingDigest,
};
const signing = () => transactionIn('SIGNING', { attempts: [] });
const newest = ({ attempts }: Transaction) => attempts.at(-1);

test('bytes that no co-signer has begun to sign are replaced under their attempt number and nonce', () => {
  const unasked = afterEvents(signing(), prepare, inVain);
  expect(newest(unasked)?.isAsked).toBe(false);
  const fresh = afterEvents(unasked, instead);
  expect(fresh.attempts.map(({ number, nonce, signingDigest: digest }) => [number, nonce, digest])).toEqual([
    [1, PREPARED.nonce, FRESH_DIGEST],
  ]);
  // No co-signer has received the new bytes yet, and late reports about the old bytes have no
  // effect.
  expect(newest(fresh)?.isAsked).toBeUndefined();
  expect(afterEvents(fresh, contact)).toBe(fresh);
  expect(afterEvents(fresh, inVain)).toBe(fresh);
  expect(afterEvents(fresh, instead)).toBe(fresh);
});

test('bytes that a co-signer may have begun to sign are not replaced', () => {
  const unknown = afterEvents(signing(), prepare);
  expect(afterEvents(unknown, instead)).toBe(unknown);
  const request = afterEvents(unknown, inVain, contact);
  expect(newest(request)?.isAsked).toBe(true);
  expect(afterEvents(request, instead)).toBe(request);
  // A late report that no co-signer was reached does not override the report that one was
  // contacted.
  expect(afterEvents(request, inVain)).toBe(request);
  const early = afterEvents(unknown, contact);
  expect(afterEvents(early, inVain)).toBe(early);
});

test('only the run that prepared the bytes can report that no co-signer was reached', () => {
  const prepared = afterEvents(signing(), prepare);
  expect(afterEvents(prepared, { ...inVain, run: 'second' })).toBe(prepared);
  const old = transactionIn('SIGNING', { attempts: [preparedAttempt()] });
  expect(afterEvents(old, inVain)).toBe(old);
});

test('bytes are not replaced in place by another nonce or purpose, or after they were signed', () => {
  const unasked = afterEvents(signing(), prepare, inVain);
  const other = { ...mine, signingDigest: FRESH_DIGEST };
  expect(afterEvents(unasked, { ...instead, attempt: { ...other, nonce: '5' } })).toBe(unasked);
  expect(afterEvents(unasked, { ...instead, attempt: { ...other, purpose: 'cancellation' } })).toBe(unasked);
  const given = afterEvents(unasked, { type: 'fillNonce', reason: 'INSUFFICIENT_FUNDS', detail: null });
  expect(afterEvents(given, instead)).toBe(given);
  const signed = afterEvents(unasked, { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH });
  expect(afterEvents(signed, instead)).toBe(signed);
});

test('an unsigned replacement of an attempt in flight is replaced in place, and the attempt in flight stays', () => {
  const hurried = afterEvents(
    transactionIn('BROADCAST', { attempts: [sentAttempt()] }),
    { type: 'reprice', attempt: 1, obstacle: null },
    prepare,
    inVain,
    instead,
  );
  expect(hurried.attempts.map(({ number, signingDigest: digest }) => [number, digest])).toEqual([
    [1, signingDigest],
    [2, FRESH_DIGEST],
  ]);
});

test('bytes are stale five minutes after their preparation if no co-signer has begun to sign them', () => {
  const attempt: Attempt = { ...preparedAttempt(), isAsked: false };
  const atMs = attempt.preparedAtMs + 5 * 60_000;
  expect([isStale(attempt, atMs - 1), isStale(attempt, atMs)]).toEqual([false, true]);
  expect(isStale({ ...attempt, isAsked: true }, atMs)).toBe(false);
  expect(isStale(preparedAttempt(), atMs)).toBe(false);
  expect(isStale({ ...sentAttempt(), isAsked: false }, atMs)).toBe(false);
});
