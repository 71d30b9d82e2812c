import { expect, test } from 'vitest';
import { cancellationRefusal } from '#domain/access/reset-cancellation.ts';
import { alice, bob, NOON_MS } from '../cast.ts';

/** Covers who cancels a credential reset of alice, and how often. */

const RESET = { userId: alice.userId };
const INTERVAL_MS = 90 * 24 * 60 * 60 * 1000;

test('a member who has cancelled no reset of the person cancels one', () => {
  expect(cancellationRefusal(RESET, bob, { lastCancelledAtMs: null, nowMs: NOON_MS })).toBeNull();
});

test('a member who has cancelled a reset waits for 90 days', () => {
  const availableAtMs = NOON_MS + INTERVAL_MS;
  const at = (nowMs: number) => cancellationRefusal(RESET, bob, { lastCancelledAtMs: NOON_MS, nowMs });
  expect(at(NOON_MS)).toEqual({ code: 'reset-cancellation-used', availableAtMs });
  expect(at(availableAtMs - 1)).toEqual({ code: 'reset-cancellation-used', availableAtMs });
  expect(at(availableAtMs)).toBeNull();
});

test('the person cancels any number of own resets', () => {
  expect(cancellationRefusal(RESET, alice, { lastCancelledAtMs: NOON_MS, nowMs: NOON_MS })).toBeNull();
});
