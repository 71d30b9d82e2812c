import fc from 'fast-check';
import { expect, test } from 'vitest';
import { abbreviated, unitsOf, unitsText, usdText } from '#dashboard/format.ts';

test.each([
  ['0', 18, '0'],
  ['1', 18, '0.000000000000000001'],
  ['1000000000000000000', 18, '1'],
  ['1234500', 3, '1,234.5'],
  ['123456789', 0, '123,456,789'],
  ['-1500', 3, '−1.5'],
  ['-1', 2, '−0.01'],
  ['115792089237316195423570985008687907853269984665640564039457584007913129639935', 0, null],
])('%s of %i decimals is %s', (amount, decimals, text) => {
  const shown = unitsText(amount, decimals);
  expect(shown.replaceAll(',', '')).toBe(text?.replaceAll(',', '') ?? amount);
  if (text !== null) expect(shown).toBe(text);
});

test('no digit is lost, whatever the amount: what is shown says the same number', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 36 }), (amount, decimals) => {
      const [whole = '', part = ''] = unitsText(amount.toString(), decimals).replaceAll(',', '').split('.');
      expect(BigInt(whole + part.padEnd(decimals, '0'))).toBe(amount);
    }),
  );
});

test('an address is shown by both of its ends, and what is short is shown whole', () => {
  expect(abbreviated('0x14dC79964da2C08b23698B3D3cc7Ca32193d9955')).toBe('0x14dC79…3d9955');
  expect(abbreviated('usr_1234')).toBe('usr_1234');
});

test('dollars have their thousands apart, and what is not known is nothing', () => {
  expect([usdText('1234567.50'), usdText('0.005'), usdText(null)]).toEqual(['$1,234,567.50', '$0.005', null]);
});

test('what is typed is the amount that is shown, and nothing else is one', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 36 }), (amount, decimals) => {
      expect(unitsOf(unitsText(amount.toString(), decimals), decimals)).toBe(amount.toString());
    }),
  );
  for (const typed of ['', '.', '.5', '1e3', '-1', '1.2.3', '0x10', '1.001', '١', '1 000', 'Infinity']) {
    expect([typed, unitsOf(typed, 2)]).toEqual([typed, null]);
  }
  expect([unitsOf('007.5', 2), unitsOf(' 1. ', 2), unitsOf('0', 0)]).toEqual(['750', '100', '0']);
});
