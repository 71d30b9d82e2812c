/**
 * Attack: the thief of a session makes many tokens, or logs in many times, and sends requests with
 *   all of them at the same time. Each credential has a limit of its own.
 * Attacker: thief-of-secrets
 * Co-signers: 0
 * Finding: S8
 * Defence: all tokens of a user together have three times the limit of one, all sessions likewise.
 */
import { evictDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import type { Person, RequestOptions } from '../../http/scene.worker.ts';
import { anotherToken, call, coordinator, enter, login } from '../../http/scene.worker.ts';

afterEach(() => vi.useRealTimers());

const CREDENTIALS = 8;

interface Outcome {
  readonly admitted: number;
  /** The quota in the refusals. */
  readonly quotas: ReadonlySet<string | null>;
}

/** Sends requests of all credentials at the same time. */
async function flood(credentials: readonly RequestOptions[], requests: number, path: string): Promise<Outcome> {
  const each = credentials.flatMap((credential) => Array.from({ length: requests }, () => call(path, credential)));
  const answers = await Promise.all(each);
  const refused = answers.filter(({ status }) => status === 429);
  const quotas = new Set(refused.map(({ headers }) => headers.get('ratelimit-policy')));
  return { admitted: answers.length - refused.length, quotas };
}

async function tokensOf(person: Person): Promise<readonly RequestOptions[]> {
  const tokens: RequestOptions[] = [];
  for (let i = 0; i < CREDENTIALS; i += 1) tokens.push({ token: (await anotherToken(person)).token });
  return tokens;
}

test('eight tokens of a user have the limits of three', async () => {
  const thief = await enter('mallory');
  const tokens = await tokensOf(thief);
  expect(await flood(tokens, 20, 'GET /vault/1/policy')).toEqual({
    admitted: 60,
    quotas: new Set(['"read";q=60;w=60']),
  });
  // The other kinds of endpoints have budgets of their own, and so has another user.
  expect((await call('GET /user/me', tokens[0])).status).toBe(200);
  expect((await flood([{ token: (await enter('alice')).token }], 20, 'GET /vault/1/policy')).admitted).toBe(20);
});

test('eight sessions of a user have the limits of three', async () => {
  const thief = await enter('mallory');
  const sessions: RequestOptions[] = [];
  for (let i = 0; i < CREDENTIALS; i += 1)
    sessions.push({ headers: { cookie: await login(thief), 'sec-fetch-site': 'same-origin' } });
  const { admitted, quotas } = await flood(sessions, 40, 'POST /transaction/987654.01J00000000000000000000000/cancel');
  // A session that is at its own limit may have leased a request that it does not use.
  expect(admitted).toBeLessThanOrEqual(90);
  expect(admitted).toBeGreaterThan(80);
  expect(quotas).toContain('"write";q=90;w=60');
});

test('the budget slides, and outlives the memory of its object', async () => {
  const thief = await enter('mallory');
  const tokens = await tokensOf(thief);
  const startMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: startMs });
  expect((await flood(tokens, 20, 'GET /vault/1/policy')).admitted).toBe(60);
  await evictDurableObject(coordinator.PERSON.getByName(`person:${thief.id}`));
  vi.setSystemTime(startMs + 59_999);
  expect((await flood(tokens, 20, 'GET /vault/1/policy')).admitted).toBe(0);
  vi.setSystemTime(startMs + 60_250);
  expect((await flood(tokens, 20, 'GET /vault/1/policy')).admitted).toBe(60);
});
