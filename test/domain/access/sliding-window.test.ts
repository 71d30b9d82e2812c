import { expect, test } from 'vitest';
import { SlidingWindow, STORED_STEP_MS } from '#domain/access/sliding-window.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';

/** Covers that in no 60 seconds more than the quota is admitted, and none below it is refused. */

const START_MS = 1_700_000_000_000;
const MINUTE_MS = 60_000;
const ARRIVALS = 1_000_000;
const SEED = 20_261_129;

test('a request counts for exactly sixty seconds, whenever others came', () => {
  const window = new SlidingWindow();
  expect(window.admit(2, START_MS)).toEqual({ admitted: true, remaining: 1, resetSeconds: 60 });
  expect(window.admit(2, START_MS + 40_000)).toEqual({ admitted: true, remaining: 0, resetSeconds: 20 });
  expect(window.admit(2, START_MS + 59_999)).toEqual({ admitted: false, remaining: 0, resetSeconds: 1 });
  expect(window.admit(2, START_MS + MINUTE_MS)).toEqual({ admitted: true, remaining: 0, resetSeconds: 40 });
  expect(window.admit(2, START_MS + MINUTE_MS + 1)).toMatchObject({ admitted: false, resetSeconds: 40 });
});

test(`${ARRIVALS.toLocaleString('en')} random arrivals are admitted exactly as a list of times admits them`, () => {
  const chance = seededRandom(SEED);
  let [admissions, refusals] = [0, 0];
  for (const quota of [1, 3, 10, 20, 300, 5_000]) {
    const [window, times] = [new SlidingWindow(), [] as number[]];
    let [first, nowMs] = [0, START_MS];
    for (let i = 0; i < ARRIVALS / 6; i += 1) {
      // Bursts within a millisecond, a steady rate around the quota, and rare pauses.
      const dice = chance();
      nowMs += dice < 0.4 ? 0 : dice < 0.9995 ? Math.floor(((chance() * 2.4 * MINUTE_MS) / quota) | 0) : 70_000;
      while (first < times.length && (times[first] ?? 0) + MINUTE_MS <= nowMs) first += 1;
      const mayPass = times.length - first < quota;
      const { admitted, remaining, resetSeconds } = window.admit(quota, nowMs);
      if (admitted !== mayPass) throw new Error(`arrival ${i} of quota ${quota} is ${String(admitted)}`);
      if (admitted) times.push(nowMs);
      else if ((times[first] ?? 0) + MINUTE_MS > nowMs + resetSeconds * 1000) throw new Error('waits too shortly');
      if (remaining !== quota - (times.length - first)) throw new Error('states another number of remaining requests');
      if (admitted) admissions += 1;
      else refusals += 1;
    }
  }
  expect([admissions > ARRIVALS / 10, refusals > ARRIVALS / 10]).toEqual([true, true]);
});

test('a grant counts as many requests as the quota leaves, of any number', () => {
  const window = new SlidingWindow();
  expect(window.grant(1_000_000_000, START_MS, 50_000_000)).toMatchObject({ granted: 50_000_000 });
  expect(window.grant(50_000_003, START_MS + 1, 5)).toEqual({ granted: 3, remaining: 0, resetSeconds: 60 });
  expect(window.grant(50_000_003, START_MS + 2, 5)).toMatchObject({ granted: 0, resetSeconds: 60 });
  expect(window.room(50_000_003, START_MS + MINUTE_MS)).toBe(50_000_000);
});

test('what is stored admits no more than before, and a bounded time longer', () => {
  const [chance, quota] = [seededRandom(SEED), 50];
  const window = new SlidingWindow();
  let nowMs = START_MS;
  while (window.admit(quota, nowMs).admitted) nowMs += Math.floor(chance() * 900);
  const stored = window.stored();
  expect(stored.length).toBeLessThanOrEqual(MINUTE_MS / STORED_STEP_MS + 1);
  const oldest = START_MS + MINUTE_MS;
  expect(new SlidingWindow(stored).admit(quota, oldest - 1).admitted).toBe(false);
  expect(new SlidingWindow(stored).admit(quota, oldest + STORED_STEP_MS).admitted).toBe(true);
});

test('a lower quota waits until enough requests have left', () => {
  const window = new SlidingWindow();
  for (const second of [0, 10, 20, 30]) window.admit(10, START_MS + second * 1_000);
  expect(window.admit(2, START_MS + 40_000)).toEqual({ admitted: false, remaining: 0, resetSeconds: 40 });
  expect(window.admit(2, START_MS + 79_999).admitted).toBe(false);
  expect(window.admit(2, START_MS + 80_000).admitted).toBe(true);
});

test('a clock that is set back closes the window for a minute at most', () => {
  const window = new SlidingWindow();
  window.admit(2, START_MS);
  window.admit(2, START_MS + 5);
  const earlier = START_MS - 3_600_000;
  expect(window.admit(2, earlier)).toEqual({ admitted: false, remaining: 0, resetSeconds: 60 });
  expect(window.admit(2, earlier + MINUTE_MS)).toMatchObject({ admitted: true, remaining: 1 });
});
