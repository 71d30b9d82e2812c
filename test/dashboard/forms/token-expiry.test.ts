import { expect, test } from 'vitest';
import { isExpired, typedExpiry } from '#dashboard/forms/token-expiry.ts';

/** Covers which expiry of a token the form accepts. */

const NOON_MS = new Date('2026-11-28T12:00:00').getTime();
const endOf = (day: string) => Math.floor(new Date(`${day}T23:59:59`).getTime() / 1000);

test.each([['2026-11-28'], ['2026-11-29'], ['9999-12-30']])('a token may expire at the end of %s', (day) => {
  expect(typedExpiry(day, NOON_MS)).toEqual({ expiresAt: endOf(day) });
});

test('without a day the token does not expire', () => {
  expect(typedExpiry('', NOON_MS)).toEqual({ expiresAt: null });
});

test.each([
  ['2026-11-27', 'in the future'],
  ['0001-01-01', 'in the future'],
  ['12026-11-28', 'up to the year 9999'],
  ['2026-13-01', 'up to the year 9999'],
  ['tomorrow', 'up to the year 9999'],
])('the day %s is refused, and gives no token without an expiry', (day, fault) => {
  expect(typedExpiry(day, NOON_MS)).toEqual({ fault: expect.stringContaining(fault) });
});

test('a token has expired from its second on', () => {
  const expiresAt = NOON_MS / 1000;
  expect([NOON_MS - 1, NOON_MS, NOON_MS + 1].map((nowMs) => isExpired({ expiresAt }, nowMs))).toEqual([
    false,
    true,
    true,
  ]);
  expect(isExpired({ expiresAt: null }, NOON_MS)).toBe(false);
});
