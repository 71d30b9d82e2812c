import { expect, test } from 'vitest';
import { valueLike } from '#dashboard/amounts/money.ts';

const ETH = 10n ** 18n;

test('a fee is valued at the price of the balance, and without a price it has no value', () => {
  const balance = { current: String(2n * ETH), usdValue: '5000.50' };
  expect(valueLike(String(ETH / 1000n), balance)).toBe('2.50025');
  expect(valueLike(String(10n ** 40n), { current: '1', usdValue: '0.01' })).toBe(String(10n ** 38n));
  expect(valueLike('1', balance)).toBe('0');
  expect(valueLike('1', { ...balance, usdValue: null })).toBeNull();
  expect(valueLike('1', { current: '0', usdValue: '0' })).toBeNull();
});
