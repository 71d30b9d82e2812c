import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import type { Person } from '../scene.worker.ts';
import {
  anotherToken,
  call,
  coordinator,
  created,
  enter,
  foundTreasury,
  PATIENCE_MS,
  payment,
} from '../scene.worker.ts';

/**
 * Covers spec part 8: each token has windows of sixty seconds with 20 reads, 10 writes and 300
 * reads of the own profile.
 */

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function statuses(count: number, one: () => Promise<{ readonly status: number }>): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) seen.push((await one()).status);
  return seen;
}

const NOWHERE = 'GET /transaction/987654.01J00000000000000000000000';

function stubOf({ token }: Person) {
  return coordinator.ACCESS_TOKEN.getByName(`token:${token.slice(12, 28)}`);
}

test('a token has twenty reads a minute, and the headers count them down', async () => {
  const trent = await enter('trent');
  const read = () => call(NOWHERE, { token: trent.token });
  const first = await read();
  expect(first.headers.get('ratelimit-policy')).toBe('"read";q=20;w=60');
  expect(first.headers.get('ratelimit')).toMatch(/^"read";r=19;t=(60|59)$/);
  expect(await statuses(19, read)).toEqual(Array.from({ length: 19 }, () => 403));
  const refused = await read();
  expect([refused.status, refused.body['code'], refused.body['type']]).toEqual([
    429,
    'quota-exceeded',
    'https://iana.org/assignments/http-problem-types#quota-exceeded',
  ]);
  expect(refused.headers.get('ratelimit')).toMatch(/^"read";r=0;t=\d+$/);
  const wait = Number.parseInt(refused.headers.get('retry-after') ?? '', 10);
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
});

test('a caller who waits as long as instructed is admitted, and not a second earlier', async () => {
  const trent = await enter('trent');
  const read = () => call(NOWHERE, { token: trent.token });
  const startMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: startMs });
  await statuses(20, read);
  vi.setSystemTime(startMs + 59_999);
  expect((await read()).status).toBe(429);
  vi.setSystemTime(startMs + 60_000);
  expect((await read()).status).toBe(403);
});

test('a token has ten writes a minute, counted apart from reads', async () => {
  const treasury = await foundTreasury();
  const alice = await anotherToken(treasury.alice);
  const write = () => call('POST /transaction/transfer', { token: alice.token, body: payment(treasury) });
  expect(await statuses(11, write)).toEqual([...Array.from({ length: 10 }, () => 201), 429]);
  expect((await call('GET /user/me', { token: alice.token })).status).toBe(200);
  expect((await call(NOWHERE, { token: alice.token })).status).toBe(403);
});

test('a write refused by the rate limit has no effect', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const bob = await anotherToken(treasury.bob);
  const invalid = () => call('POST /transaction/transfer', { token: bob.token, body: {} });
  await statuses(10, invalid);
  const refused = await call(`POST /transaction/${body['id']}/approve`, { token: bob.token });
  expect(refused.status).toBe(429);
  const read = await call(`GET /transaction/${body['id']}`, { token: treasury.victor.token });
  expect(read.body['approvalsCounted']).toBe(0);
});

test('a user has three hundred reads of the own profile', async () => {
  const trent = await enter('trent');
  const answers = await Promise.all(Array.from({ length: 310 }, () => call('GET /user/me', { token: trent.token })));
  expect(answers.filter(({ status }) => status === 200).length).toBe(300);
  expect(answers.filter(({ status }) => status === 429).length).toBe(10);
});

test('exactly the quota of simultaneous requests passes', async () => {
  const trent = await enter('trent');
  const answers = await Promise.all(Array.from({ length: 60 }, () => call(NOWHERE, { token: trent.token })));
  expect(answers.filter(({ status }) => status === 403).length).toBe(20);
  expect(answers.filter(({ status }) => status === 429).length).toBe(40);
});

test('exactly ten of a thousand simultaneous writes pass, and exactly ten transfers exist', async () => {
  const treasury = await foundTreasury({ mostPending: 2_000 });
  const alice = await anotherToken(treasury.alice);
  const body = payment(treasury);
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, () => call('POST /transaction/transfer', { token: alice.token, body })),
  );
  const count = (requested: number) => answers.filter(({ status }) => status === requested).length;
  expect([count(201), count(429)]).toEqual([10, 990]);
  const list = await call(`GET /vault/${treasury.id}/transactions?limit=100`, { token: treasury.victor.token });
  expect(list.body['transactions']).toHaveLength(10);
});

test('a request counts for exactly sixty seconds, and a clock that is set back gives no second quota', async () => {
  const trent = await enter('trent');
  const read = () => call(NOWHERE, { token: trent.token });
  const startMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: startMs });
  await read();
  vi.setSystemTime(startMs + 59_999);
  expect(await statuses(20, read)).toEqual([...Array.from({ length: 19 }, () => 403), 429]);
  vi.setSystemTime(startMs + 60_000);
  expect(await statuses(2, read)).toEqual([403, 429]);
  // A refused request does not count.
  vi.setSystemTime(startMs + 119_999);
  expect(await statuses(20, read)).toEqual([...Array.from({ length: 19 }, () => 403), 429]);
  vi.setSystemTime(startMs + 30_000);
  expect(await statuses(1, read)).toEqual([429]);
  vi.setSystemTime(startMs + 90_000);
  expect(await statuses(1, read)).toEqual([403]);
});

test('each token has its own windows', async () => {
  const trent = await enter('trent');
  await statuses(20, () => call(NOWHERE, { token: trent.token }));
  const other = await anotherToken(trent);
  expect((await call(NOWHERE, { token: other.token })).status).toBe(403);
  expect((await call(NOWHERE, { token: trent.token })).status).toBe(429);
});

test('a hibernated object keeps its number of requests', async () => {
  const trent = await enter('trent');
  const read = () => call(NOWHERE, { token: trent.token });
  await statuses(20, read);
  // The object stores the number of requests up to a quarter of a second later. The test waits for
  // this before it evicts the object.
  await vi.waitFor(async () => {
    expect(await storedReads(trent)).toBe(20);
  }, PATIENCE_MS);
  await evictDurableObject(stubOf(trent));
  expect((await read()).status).toBe(429);
});

test('a damaged window counts as empty, is logged, and is overwritten by the next request', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const trent = await enter('trent');
  const read = () => call(NOWHERE, { token: trent.token });
  await restartWith(trent, { windows: { read: { startedAtMs: Date.now(), used: 'many' } }, lastUsedAtMs: 'today' });
  expect(await statuses(21, read)).toEqual([...Array.from({ length: 20 }, () => 403), 429]);
  const id = trent.token.slice(12, 28);
  expect(said.mock.calls.join()).toContain(
    `"code":"state-unreadable","detail":"the stored windows of a credential is damaged","credential":"token:${id}"`,
  );
  expect(said.mock.calls.join()).not.toContain('many');
  await vi.waitFor(async () => {
    expect(await storedReads(trent)).toBe(20);
  }, PATIENCE_MS);
});

/** Uses a token once, and starts its object again with other stored values. */
async function restartWith(person: Person, values: Readonly<Record<string, unknown>>): Promise<void> {
  await call(NOWHERE, { token: person.token });
  await vi.waitFor(async () => expect((await storedWindows(person)).windows).toBeDefined(), PATIENCE_MS);
  await evictDurableObject(stubOf(person));
  await runInDurableObject(stubOf(person), (_instance, { storage }) => storage.put(values));
  await evictDurableObject(stubOf(person));
}

/** Returns the number of reads in the stored window. */
async function storedReads(person: Person): Promise<number> {
  const bursts = (await storedWindows(person)).windows?.['read'] ?? [];
  return bursts.reduce((sum, [, count]) => sum + count, 0);
}

async function storedWindows(person: Person) {
  return runInDurableObject(stubOf(person), async (_instance, { storage }) => ({
    windows: await storage.get<Record<string, readonly (readonly [number, number])[]>>('windows'),
  }));
}

test('a window of release 0.2.0 still counts', async () => {
  const trent = await enter('trent');
  const read = () => call(NOWHERE, { token: trent.token });
  await restartWith(trent, { windows: { read: { startedAtMs: Date.now(), used: 18 } } });
  expect(await statuses(3, read)).toEqual([403, 403, 429]);
});

test('a request without a valid token uses none of the owner’s quota', async () => {
  const trent = await enter('trent');
  const forged = `${trent.token.slice(0, -1)}${trent.token.endsWith('A') ? 'B' : 'A'}`;
  await statuses(30, () => call(NOWHERE, { token: forged }));
  const own = await call(NOWHERE, { token: trent.token });
  expect(own.headers.get('ratelimit')).toMatch(/^"read";r=19;/);
});
