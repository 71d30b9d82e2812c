/**
 * Attack: the thief of a token sends its requests around the end of the window of a rate limit, and
 *   so twice as many as the limit within a second.
 * Attacker: thief-of-secrets
 * Co-signers: 0
 * Finding: S8
 * Defence: the windows slide. In no 60 seconds does a token have more requests than its limit.
 */
import { afterEach, expect, test, vi } from 'vitest';
import type { Person } from '../../http/scene.worker.ts';
import { call, enter } from '../../http/scene.worker.ts';

afterEach(() => vi.useRealTimers());

/** Sends requests of a kind that is limited to 20 a minute. Returns how many were admitted. */
async function admitted({ token }: Person, requests: number): Promise<number> {
  let passed = 0;
  for (let i = 0; i < requests; i += 1) {
    if ((await call('GET /vault/1/policy', { token })).status !== 429) passed += 1;
  }
  return passed;
}

test('a token has its limit in the 60 seconds around the end of a window', async () => {
  const thief = await enter('mallory');
  const startMs = Date.now();
  const at = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: startMs + ms });
  at(0);
  expect(await admitted(thief, 1)).toBe(1);
  at(59_500);
  expect(await admitted(thief, 25)).toBe(19);
  at(60_500);
  expect(await admitted(thief, 25)).toBe(1);
  at(119_400);
  expect(await admitted(thief, 25)).toBe(0);
  at(119_500);
  expect(await admitted(thief, 25)).toBe(19);
});
