import { expect, test } from 'vitest';
import { pagesOf } from '#dashboard/forms/passkey.ts';

const [FIRST, SECOND, FORMER] = ['https://a.example.com', 'https://b.example.org', 'https://c.example.net'] as const;
const devicesOf = (...origins: readonly (string | null)[]) => origins.map((origin) => ({ origin }));

test('a person signs at the pages of their passkeys, the preferred page first', () => {
  expect(pagesOf(devicesOf(SECOND, null, FIRST, FIRST), [FIRST, SECOND])).toEqual([FIRST, SECOND]);
  expect(pagesOf(devicesOf(SECOND, null), [FIRST, SECOND])).toEqual([SECOND]);
  expect(pagesOf(devicesOf(SECOND, FIRST), [SECOND, FIRST])).toEqual([SECOND, FIRST]);
});

test('an Ed25519 device, a passkey of a former page and a service without a page give no page', () => {
  expect(pagesOf(devicesOf(null, FORMER), [FIRST, SECOND])).toEqual([]);
  expect(pagesOf(devicesOf(FIRST), [])).toEqual([]);
});
