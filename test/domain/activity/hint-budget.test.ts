import { expect, test } from 'vitest';
import { chargeOf, MAX_HINTS, MAX_OPEN_PARTS, partsOf } from '#domain/activity/hint-budget.ts';

test('a delivery is split above the number of hints of one invocation', () => {
  expect([0, 1, MAX_HINTS, MAX_HINTS + 1, 60].map(partsOf)).toEqual([0, 0, 0, 2, 3]);
});

test('every single delivery of one megabyte fits into the open parts of an endpoint', () => {
  const shortest = '{"hash":""},'.length + 64;
  expect(partsOf(Math.ceil((1024 * 1024) / shortest)) * 6).toBeLessThan(MAX_OPEN_PARTS);
});

test('the first tries of an endpoint are faster than a full Ethereum, and long deliveries use less', () => {
  const minuteMs = 60_000;
  expect(chargeOf('fresh', 1_000).costMs).toBeLessThan(minuteMs);
  expect(chargeOf('fresh', 1).burstMs).toBe(15_000);
  expect(chargeOf('bulk', 600)).toEqual({ lane: 'bulk', costMs: minuteMs, burstMs: 0 });
});
