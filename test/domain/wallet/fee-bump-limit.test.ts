import { expect, test } from 'vitest';
import { automaticBumpLimit } from '#domain/wallet/fee-bump-limit.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import { alice, NOON_MS, policy, signedAttempt, transactionIn, UNSPENT } from '../cast.ts';

/** Covers how far the service raises the fee of a replacement when only RPC nodes require it. */

type Sent = Partial<NonNullable<Attempt['sent']>>;

const attempt = (fee: bigint, sent: Sent, purpose: Attempt['purpose'] = 'intent'): Attempt => ({
  ...signedAttempt(),
  purpose,
  maxFee: amountOf(fee),
  sent: { outcome: 'underpriced', answer: null, atMs: NOON_MS, times: 1, ...sent },
});
const limit = (attempts: readonly Attempt[], cancelling = false) => automaticBumpLimit({ attempts, cancelling });
const REQUESTED: Sent = { isAsked: true };

test('a replacement that a person requested is limited only by the fee cap of the intent', () => {
  expect(limit([attempt(100n, REQUESTED)])).toBeNull();
  expect(limit([attempt(100n, REQUESTED), attempt(150n, REQUESTED)])).toBeNull();
});

test('the price follows the market before any replacement', () => {
  expect(limit([])).toBeNull();
  expect(limit([attempt(100n, {})])).toBeNull();
  expect(limit([attempt(100n, {}), attempt(900n, {})])).toBeNull();
});

test('RPC nodes can raise a replacement to twice the fee that a person requested, however many attempts that takes', () => {
  expect(limit([attempt(100n, REQUESTED), attempt(150n, {})])).toBe(300n);
  expect(limit([attempt(100n, REQUESTED), attempt(150n, {}), attempt(250n, {}), attempt(290n, {})])).toBe(300n);
  expect(limit([attempt(100n, REQUESTED), attempt(150n, REQUESTED), attempt(1_000n, {})])).toBe(2_000n);
});

test('a cancellation counts as requested by a person, and RPC nodes can raise it to twice its first fee', () => {
  const paid = attempt(100n, { outcome: 'accepted' });
  expect(limit([paid], true)).toBeNull();
  expect(limit([attempt(100n, REQUESTED), attempt(150n, {})], true)).toBeNull();
  const cancelled = attempt(150n, {}, 'cancellation');
  expect(limit([paid, cancelled], true)).toBe(300n);
  expect(limit([attempt(100n, {}), cancelled, attempt(290n, {}, 'cancellation')], true)).toBe(300n);
});

test('a speed-up of a refused payment is marked as requested, and keeps the price that the RPC nodes require', () => {
  const words = 'less fees than conflicting txs; 0.00000231 < 0.00040154';
  const refused = attempt(150n, { outcome: 'refused', answer: words });
  const waiting = transactionIn('BROADCAST', {
    attempts: [attempt(100n, REQUESTED), refused],
    stateReason: 'SPEED_UP_NEEDED',
  });
  const request = decide(waiting, { type: 'speedUp', actor: alice }, { nowMs: NOON_MS, policy, spentOf: UNSPENT });
  if (!request.ok) throw new Error(request.refusal.code);
  const { attempts } = request.value.transaction;
  expect(attempts[1]?.sent).toMatchObject({ outcome: 'underpriced', answer: words, isAsked: true });
  expect(limit(attempts)).toBeNull();
});
