import { expect, test } from 'vitest';
import { abbreviated, reasonText, whenAlike } from '#dashboard/text.ts';

test('a long address is shortened to its first and last characters, and a short text is shown in full', () => {
  expect(abbreviated('0x14dC79964da2C08b23698B3D3cc7Ca32193d9955')).toBe('0x14dC79…3d9955');
  expect(abbreviated('usr_1234')).toBe('usr_1234');
});

test('two addresses with one abbreviation are shown whole, and the first one is rendered again', () => {
  const real = `0xabcdef${'1'.repeat(28)}123456`;
  const fake = `0xABCDEF${'2'.repeat(28)}123456`;
  let renderings = 0;
  const end = whenAlike(() => renderings++);
  expect(abbreviated(real)).toBe('0xabcdef…123456');
  expect([abbreviated(real.toUpperCase().replace('0X', '0x')), renderings]).toEqual(['0xABCDEF…123456', 0]);
  expect([abbreviated(fake), renderings]).toEqual([fake, 1]);
  expect([abbreviated(real), abbreviated(fake), renderings]).toEqual([real, fake, 1]);
  end();
});

test('a payment whose token shows no transfer is explained, and other reasons are their codes', () => {
  expect(reasonText('TRANSFER_NOT_LOGGED')).toMatch(/Do not pay again/);
  expect([reasonText('REORGED'), reasonText(null)]).toEqual(['REORGED', null]);
});
