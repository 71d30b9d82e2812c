import { expect, test } from 'vitest';
import { chainsFrom, findChain } from '#chains/registry.ts';
import { feeCapFor, waitsForPrice } from '#domain/wallet/fee-cap.ts';
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
