import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  amountOf,
  decimalText,
  parseAmount,
  parseSignedAmount,
  readableAmount,
  UINT256_MAX,
  unitsOf,
} from '#domain/asset/amount.ts';

for (const text of [
  '',
  '-1',
  '+1',
  '00',
  '01',
  '1.0',
  '1.',
  '.5',
  '1e18',
  '0x10',
  '1_000',
  ' 1',
  '1 ',
  '1\n',
  'NaN',
  '٣',
  '１',
  String(UINT256_MAX + 1n),
  '9'.repeat(79),
]) {
  test(`'${text}' is no amount`, () => expect(parseAmount(text)).toBeNull());
}

test('zero and the largest uint256 are amounts', () => {
  expect(parseAmount('0')).toBe('0');
  expect(parseAmount(String(UINT256_MAX))).toBe(String(UINT256_MAX));
  expect(UINT256_MAX).toBe(BigInt(`0x${'f'.repeat(64)}`));
});

test('the chain determines the maximum amount', () => {
  expect(parseAmount('18446744073709551615', (1n << 64n) - 1n)).toBe('18446744073709551615');
  expect(parseAmount('18446744073709551616', (1n << 64n) - 1n)).toBeNull();
});

test('every amount is equal to itself after a conversion to bigint and back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: UINT256_MAX }), (units) => {
      expect(unitsOf(amountOf(units))).toBe(units);
    }),
  );
});

test('a number of units that no chain carries is a bug, not an amount', () => {
  expect(() => amountOf(-1n)).toThrow('outside 0..2^256-1');
  expect(() => amountOf(UINT256_MAX + 1n)).toThrow('outside 0..2^256-1');
});

test.each([
  [0n, 18, '0'],
  [1n, 18, '0.000000000000000001'],
  [10n ** 18n, 18, '1'],
  [15n * 10n ** 17n, 18, '1.5'],
  [10n ** 17n, 18, '0.1'],
  [12_345_600n, 6, '12.3456'],
  [100n, 2, '1'],
  [1_000n, 2, '10'],
  [99n, 2, '0.99'],
  [7n, 0, '7'],
  [0n, 0, '0'],
  [UINT256_MAX, 77, '1.15792089237316195423570985008687907853269984665640564039457584007913129639935'],
])('%d units of %d digits are %s', (units, decimals, shown) => {
  expect(decimalText(units, decimals)).toBe(shown);
});

test.each([
  [0n, 0, '0'],
  [1n, 18, '0.000000000000000001'],
  [999n, 0, '999'],
  [1000n, 0, '1 000'],
  [1_234_567_500n, 3, '1 234 567.5'],
  [-1n, 0, '−1'],
  [-1_234_500n, 3, '−1 234.5'],
])('%s units of %s decimals are read as %s', (units, decimals, text) => {
  expect(readableAmount(units, decimals)).toBe(text.replaceAll(' ', '\u202F'));
});

test('a signed amount has no sign for an increase, and zero has none', () => {
  for (const text of ['0', '1', '-1', '-9007199254740993']) expect(parseSignedAmount(text)).toBe(text);
  for (const text of ['-0', '+1', '01', '-01', '', '1.0', '−1']) expect(parseSignedAmount(text)).toBeNull();
});
