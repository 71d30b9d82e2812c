import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountHint, parseUnits, typedUnits, unitsText, usdText, usdTotal } from '#dashboard/amounts/money.ts';

const LOCALES = ['en-US', 'en-IN', 'de-DE', 'de-CH', 'fr-FR', 'es-ES', 'pl-PL', 'pt-BR', 'ar-EG', 'fa-IR'];
const locale = fc.constantFrom(...LOCALES);
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const decimals = fc.integer({ min: 0, max: 36 });

test.each([
  ['0', 18, '0'],
  ['1', 18, '0.000000000000000001'],
  ['1000000000000000000', 18, '1'],
  ['1234500', 3, '1\u202f234.5'],
  ['123456789', 0, '123\u202f456\u202f789'],
  ['-1500', 3, '−1.5'],
  ['-1', 2, '−0.01'],
  ['24937412307', 6, '24\u202f937.412307'],
])('%s smallest units with %i decimals are shown as %s', (units, digits, text) => {
  expect(unitsText(units, digits)).toBe(text);
});

test.each([
  ['en-US', '1,234.5'],
  ['de-DE', '1.234,5'],
  ['en-IN', '1,234.5'],
  ['fr-FR', '1\u202f234,5'],
  ['pl-PL', '1\u00a0234,5'],
])('an input in %s has the separators of the locale: %s', (name, text) => {
  expect(typedUnits('1234500', 3, name)).toBe(text);
});

test('an amount that was copied from a page is the same amount in every locale', () => {
  fc.assert(
    fc.property(locale, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), decimals, (name, units, digits) => {
      const shown = unitsText(units.toString(), digits);
      const isGrouped = shown.includes('\u202f');
      const read = parseUnits(shown, digits, name);
      expect(isGrouped ? [units.toString()] : [units.toString(), null]).toContain(read);
    }),
  );
});

test('a shown amount is read back as the same amount, in every locale and with any decimals', () => {
  fc.assert(
    fc.property(locale, amount, decimals, (name, units, digits) => {
      expect(parseUnits(typedUnits(units.toString(), digits, name), digits, name)).toBe(units.toString());
    }),
  );
});

test('an amount without separators is read in every locale, and with the spaces that a keyboard types', () => {
  for (const name of LOCALES) expect(parseUnits(' 1234 ', 2, name)).toBe('123400');
  expect(parseUnits('1 234,5', 2, 'fr-FR')).toBe('123450');
  expect(parseUnits('1 234,5', 2, 'pl-PL')).toBe('123450');
  expect(parseUnits("1'234.5", 2, 'de-CH')).toBe('123450');
});

test('a decimal that the locale does not write in this way is refused, and never read as a larger amount', () => {
  expect([parseUnits('0,5', 18, 'en-US'), parseUnits('1,5', 18, 'en-US'), parseUnits('0.5', 18, 'de-DE')]).toEqual([
    null,
    null,
    null,
  ]);
  expect(parseUnits('0,5', 2, 'de-DE')).toBe('50');
  const digit = fc.constantFrom(...'0123456789');
  const whole = fc.string({ unit: digit, minLength: 1, maxLength: 9 });
  const part = fc.string({ unit: digit, minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(locale, whole, part, fc.constantFrom('.', ','), (name, before, after, separator) => {
      const read = parseUnits(`${before}${separator}${after}`, 18, name);
      const asDecimal = BigInt(before + after.padEnd(18, '0')).toString();
      const isGrouped = after.length === 3 && /^[1-9]\d{0,2}$/.test(before);
      const asGrouped = BigInt(before + after + '0'.repeat(18)).toString();
      expect(isGrouped ? [null, asDecimal, asGrouped] : [null, asDecimal]).toContain(read);
    }),
  );
});

test('an invalid amount is refused', () => {
  const typed = [
    '',
    '.',
    '.5',
    '1e3',
    '-1',
    '1.2.3',
    '0x10',
    '1.001',
    '١',
    '1 00',
    '1 000 00',
    '1 000,5',
    ' 1 000.',
    'Infinity',
    '1,2345',
    '12,34',
    '0,500',
  ];
  for (const text of typed) expect([text, parseUnits(text, 2, 'en-US')]).toEqual([text, null]);
  expect(['007.5', ' 1. ', '1,234'].map((text) => parseUnits(text, 2, 'en-US'))).toEqual(['750', '100', '123400']);
});

test('the error shows an example amount in the format of the locale', () => {
  expect(amountHint(18, 'en-US')).toBe('Enter an amount such as 1,234.5, with at most 18 decimals.');
  expect(amountHint(6, 'de-DE')).toContain('1.234,5');
  expect(amountHint(0, 'en-US')).toContain('1,234,');
});

test.each([
  ['24937.412307', '$24\u202f937.41'],
  ['1234567.50', '$1\u202f234\u202f567.50'],
  ['0', '$0.00'],
  ['0.005', '$0.01'],
  ['0.004', '< $0.01'],
  ['0.999', '$1.00'],
  ['123456789012345678901234567890.129', '$123,456,789,012,345,678,901,234,567,890.13'.replaceAll(',', '\u202f')],
])('a value of %s dollars is shown as %s', (value, text) => {
  expect(usdText(value)).toBe(text);
});

test('a value has two decimals, and an unknown value is null', () => {
  expect(usdText(null)).toBe(null);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.integer({ min: 0, max: 10 ** 9 - 1 }), (whole, part) => {
      const shown = usdText(`${whole}.${part.toString().padStart(9, '0')}`) ?? '';
      const digits = BigInt(shown.replaceAll(/\D/g, ''));
      const exact = whole * 10n ** 9n + BigInt(part);
      const cents = (exact + 5_000_000n) / 10_000_000n;
      expect(digits).toBe(cents === 0n && exact > 0n ? 1n : cents);
    }),
  );
});

test.each<[readonly (string | null)[], string, number]>([
  [[], '0', 0],
  [[null, null], '0', 2],
  [['0.10', '0.2', null], '0.3', 1],
  [['9007199254740993.01', '0.000001'], '9007199254740993.010001', 0],
  [['1', '2.50', '0.000000000000000000000000000001'], '3.500000000000000000000000000001', 0],
])('the sum of %j dollars is exact, and counts what has no price', (values, total, unknown) => {
  expect(usdTotal(values)).toEqual({ total, unknown });
});
