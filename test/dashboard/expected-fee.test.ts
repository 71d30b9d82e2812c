import { expect, test } from 'vitest';
import { feeInUsd } from '#dashboard/amounts/money.ts';

const ETH = 10n ** 18n;

test('a fee is valued at the price of the balance, and without a price it has no value', () => {
  const balance = { current: String(2n * ETH), usdValue: '5000.50' };
  expect(feeInUsd(String(ETH / 1000n), balance)).toBe('2.50025');
  expect(feeInUsd(String(10n ** 40n), { current: '1', usdValue: '0.01' })).toBe(String(10n ** 38n));
  expect(feeInUsd('1', balance)).toBe('0');
  expect(feeInUsd('1', { ...balance, usdValue: null })).toBeNull();
  expect(feeInUsd('1', { current: '0', usdValue: '0' })).toBeNull();
});
