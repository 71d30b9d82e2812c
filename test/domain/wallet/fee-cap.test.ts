import { expect, test } from 'vitest';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { feeCapFor, largestFeeFor, suggestedMaxFee, waitsForPrice } from '#domain/wallet/fee-cap.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import { preparedAttempt, transactionIn } from '../cast.ts';

/** Covers the maximum fee of a transaction, by its chain and its size. */

function chainOf(name: string, differences: object = {}) {
  const chain = findChain(chainsFrom({ CHAINS: JSON.stringify([{ name, ...differences }]) }), name);
  if (chain === null) throw new Error(name);
  return chain;
}

test('the cap on Bitcoin grows with the size, from that of a small payment to that of the largest', () => {
  const cap = (size: bigint | null) => feeCapFor(chainOf('bitcoin'), size);
  expect([null, 0n, 154n, 300n].map(cap)).toEqual(['150000', '150000', '150000', '150000']);
  expect([301n, 1_000n, 2_972n, 3_000n, 90_000n].map(cap)).toEqual([
    '150500',
    '500000',
    '1486000',
    '1500000',
    '1500000',
  ]);
});

test('the operator chooses the rate, and a cap for all sizes', () => {
  expect(feeCapFor(chainOf('bitcoin', { maxFeeRate: '1000' }), 1_000n)).toBe('1000000');
  expect(feeCapFor(chainOf('bitcoin', { maxFee: '50000' }), 1_000n)).toBe('50000');
  expect(feeCapFor(chainOf('bitcoin', { maxFee: '50000' }), null)).toBe('50000');
  for (const wrong of [500, '0', '1.5']) expect(() => chainOf('bitcoin', { maxFeeRate: wrong })).toThrow('maxFeeRate');
});

test('the cap on other chains is that of the chain', () => {
  const { maxFee } = chainOf('ethereum');
  expect([null, 5n].map((size) => feeCapFor(chainOf('ethereum'), size))).toEqual([maxFee, maxFee]);
});

test('an unsigned payment waits while the price is above the cap, and does not wait for other faults', () => {
  const unsigned = transactionIn('SIGNING', { attempts: [preparedAttempt()] });
  expect(waitsForPrice(unsigned, 'FEE_CAP_EXCEEDED')).toBe(true);
  expect(waitsForPrice(transactionIn('BROADCAST'), 'FEE_CAP_EXCEEDED')).toBe(false);
  expect(waitsForPrice(unsigned, 'INSUFFICIENT_FUNDS')).toBe(false);
});

test('the largest fee is the smaller one of the cap of the chain and that of the policy for this chain', () => {
  const bitcoin = chainOf('bitcoin');
  const capped = (chain: string, amount: bigint) => ({ ...NO_RULES, maxFees: [{ chain, amount: amountOf(amount) }] });
  expect(largestFeeFor(bitcoin, NO_RULES, 1_000n)).toBe('500000');
  expect(largestFeeFor(bitcoin, capped(bitcoin.caip2, 499_999n), 1_000n)).toBe('499999');
  expect(largestFeeFor(bitcoin, capped(bitcoin.caip2, 500_001n), 1_000n)).toBe('500000');
  expect(largestFeeFor(bitcoin, capped('eip155:1', 1n), 1_000n)).toBe('500000');
});

test('the suggested fee is three times the current maximum, and never above the largest one', () => {
  const suggested = (now: bigint) => suggestedMaxFee(amountOf(now), amountOf(100n));
  expect([1n, 33n, 34n, 100n, 101n].map(suggested)).toEqual(['3', '99', '100', '100', '100']);
});
