import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Window } from '#domain/access/rate-limit.ts';
import { admit, DEFAULT_QUOTAS, SESSION_QUOTAS } from '#domain/access/rate-limit.ts';

const START_MS = 1_700_000_000_000;

test('the limits are those of the specification', () => {
  expect([DEFAULT_QUOTAS.read, DEFAULT_QUOTAS.write, DEFAULT_QUOTAS['user-profile']]).toEqual([20, 10, 300]);
  const management = [DEFAULT_QUOTAS['token-read'], DEFAULT_QUOTAS['token-update'], DEFAULT_QUOTAS['token-secret']];
  expect(management.every((quota) => quota >= 3 && quota <= 10)).toBe(true);
});

test('a session has its own limits, high enough for a person who browses pages', () => {
  expect([SESSION_QUOTAS.read, SESSION_QUOTAS.write, SESSION_QUOTAS.stream]).toEqual([300, 30, 60]);
  const stricter = Object.entries(SESSION_QUOTAS).filter(([policy, quota]) => quota < DEFAULT_QUOTAS[policy as 'read']);
  expect(stricter).toEqual([]);
});

test('a window begins with its first request and lasts exactly sixty seconds', () => {
  const first = admit(null, 2, START_MS);
  expect(first).toEqual({
    admitted: true,
    window: { startedAtMs: START_MS, used: 1 },
    remaining: 1,
    resetSeconds: 60,
  });
  const second = admit(first.window, 2, START_MS + 59_999);
  expect([second.admitted, second.remaining, second.resetSeconds]).toEqual([true, 0, 1]);
  const third = admit(second.window, 2, START_MS + 59_999);
  expect([third.admitted, third.window.used]).toEqual([false, 2]);
  expect(admit(third.window, 2, START_MS + 60_000)).toMatchObject({ admitted: true, remaining: 1 });
});

test('a clock that is set back opens a new window, and not an endless one', () => {
  const { window } = admit(null, 1, START_MS);
  expect(admit(window, 1, START_MS - 1)).toMatchObject({ admitted: true, window: { startedAtMs: START_MS - 1 } });
});

const waits = fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 200 });

test('no window admits more than its quota at any sequence of requests, and a caller who waits as instructed is admitted', () => {
  fc.assert(
    fc.property(waits, fc.integer({ min: 1, max: 20 }), (gaps, quota) => {
      let window: Window | null = null;
      let nowMs = START_MS;
      const admitted = new Map<number, number>();
      for (const gap of gaps) {
        nowMs += gap;
        const result = admit(window, quota, nowMs);
        window = result.window;
        if (result.admitted) {
          const inWindow = (admitted.get(window.startedAtMs) ?? 0) + 1;
          admitted.set(window.startedAtMs, inWindow);
          expect(inWindow).toBeLessThanOrEqual(quota);
          expect(result.remaining).toBe(quota - inWindow);
        } else {
          expect(admit(window, quota, nowMs + result.resetSeconds * 1000).admitted).toBe(true);
        }
      }
    }),
    { numRuns: 300 },
  );
});
