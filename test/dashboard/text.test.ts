import { expect, test } from 'vitest';
import { abbreviated, reasonText } from '#dashboard/text.ts';

test('a long address is shortened to its first and last characters, and a short text is shown in full', () => {
  expect(abbreviated('0x14dC79964da2C08b23698B3D3cc7Ca32193d9955')).toBe('0x14dC79…3d9955');
  expect(abbreviated('usr_1234')).toBe('usr_1234');
});

test('a payment whose token shows no transfer is explained, and other reasons are their codes', () => {
  expect(reasonText('TRANSFER_NOT_LOGGED')).toMatch(/Do not pay again/);
  expect([reasonText('REORGED'), reasonText(null)]).toEqual(['REORGED', null]);
});
