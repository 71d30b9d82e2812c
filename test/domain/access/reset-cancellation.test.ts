import { expect, test } from 'vitest';
import { cancellationRefusal } from '#domain/access/reset-cancellation.ts';
import { alice, bob, NOON_MS } from '../cast.ts';

/** Covers who cancels a credential reset of alice, and how often. */

const RESET = { userId: alice.userId };
const by = ({ userId }: typeof alice, isProven = true) => ({ userId, isProven });
const INTERVAL_MS = 90 * 24 * 60 * 60 * 1000;

test('a member who has cancelled no reset of the person cancels one', () => {
  expect(cancellationRefusal(RESET, by(bob), { lastCancelledAtMs: null, nowMs: NOON_MS })).toBeNull();
});

test('a member who has cancelled a reset waits for 90 days', () => {
  const availableAtMs = NOON_MS + INTERVAL_MS;
  const at = (nowMs: number) => cancellationRefusal(RESET, by(bob), { lastCancelledAtMs: NOON_MS, nowMs });
  expect(at(NOON_MS)).toEqual({ code: 'reset-cancellation-used', availableAtMs });
  expect(at(availableAtMs - 1)).toEqual({ code: 'reset-cancellation-used', availableAtMs });
  expect(at(availableAtMs)).toBeNull();
});

test('the person cancels any number of own resets by a session or a device, and one by a token', () => {
  const at = { lastCancelledAtMs: NOON_MS, nowMs: NOON_MS };
  expect(cancellationRefusal(RESET, by(alice), at)).toBeNull();
  expect(cancellationRefusal(RESET, by(alice, false), at)?.code).toBe('reset-cancellation-used');
  expect(cancellationRefusal(RESET, by(alice, false), { ...at, lastCancelledAtMs: null })).toBeNull();
});
