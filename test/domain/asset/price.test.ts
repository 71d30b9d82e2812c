import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MIN_SHOWN_VALUE, ONE_DOLLAR, parseUsdPrice, usdText, usdValueAtPrice } from '#domain/asset/price.ts';

/** Covers the market value of an amount of an asset, computed in integers only. */

test.each([
  ['1', '1000000000000'],
  ['0.9998', '999800000000'],
  ['2500.12', '2500120000000000'],
  ['1.2e-7', '120000'],
  ['1e-12', '1'],
  ['9e-13', '0'],
  ['1.2345678901239', '1234567890123'],
  ['6.1E4', '61000000000000000'],
])('a value is %s dollars', (text, usdE12) => expect(parseUsdPrice(text)).toBe(usdE12));

test.each(['', '-1', '+1', '1.', '.5', '1,5', 'NaN', 'Infinity', '0x1', '1e', '1e1000', ' 1', '1'.repeat(101)])(
  '%j is not a valid price',
  (text) => expect(parseUsdPrice(text)).toBeNull(),
);

const dollar = '1000000000000';

test.each<[string, bigint, number, string, boolean]>([
  ['half a cent', 5_000n, 6, dollar, false],
  ['a millionth less', 4_999n, 6, dollar, true],
  ['half a cent of 18 decimals', 5_000_000_000_000_000n, 18, dollar, false],
  ['one unit less', 4_999_999_999_999_999n, 18, dollar, true],
  ['an outgoing amount of the same value', -5_000n, 6, dollar, false],
  ['a token of no decimals for half a cent', 1n, 0, '5000000000', false],
  ['the same a millionth of a millionth cheaper', 1n, 0, '4999999999', true],
  ['an amount without value', 10n ** 30n, 18, '0', true],
])('%s: hidden %#', (_name, units, decimals, usdE12, isHidden) => {
  expect(usdValueAtPrice(units, decimals, usdE12) < MIN_SHOWN_VALUE).toBe(isHidden);
});

test('the limit is exact for every amount and price of up to 18 decimals', () => {
  const any = fc.record({
    units: fc.bigInt({ min: 0n, max: 10n ** 30n }),
    decimals: fc.integer({ min: 0, max: 18 }),
    usdE12: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  });
  fc.assert(
    fc.property(any, ({ units, decimals, usdE12 }) => {
      const isLess = units * usdE12 < 5n * 10n ** 9n * 10n ** BigInt(decimals);
      expect(usdValueAtPrice(units, decimals, usdE12.toString()) < MIN_SHOWN_VALUE).toBe(isLess);
    }),
  );
});

test.each([
  [0n, '0.00'],
  [ONE_DOLLAR, '1.00'],
  [(ONE_DOLLAR * 12345n) / 10n, '1234.50'],
  [MIN_SHOWN_VALUE - 1n, '0.004999'],
  [ONE_DOLLAR / 10n ** 7n, '0.00'],
  [(ONE_DOLLAR * 1234567n) / 10n ** 6n, '1.234567'],
])('%s is shown as %s', (value, text) => expect(usdText(value)).toBe(text));
