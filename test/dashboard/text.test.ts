import { expect, test } from 'vitest';
import { abbreviated } from '#dashboard/text.ts';

test('an address is shown by both of its ends, and a short text whole', () => {
  expect(abbreviated('0x14dC79964da2C08b23698B3D3cc7Ca32193d9955')).toBe('0x14dC79…3d9955');
  expect(abbreviated('usr_1234')).toBe('usr_1234');
});
