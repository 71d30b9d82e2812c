import { runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PRUNES } from '#jobs/prune.ts';
import type { AccessTokenObject } from '#objects/token/access-token.ts';
import { upsertWallets } from '#store/vaults.ts';
import { call, coordinator, enter, login } from '../http/scene.worker.ts';

/** Covers what is deleted after a time: rows of D1, and the objects of ended credentials. */

const DAY_MS = 24 * 60 * 60 * 1000;
const { DB, ACCESS_TOKEN, SESSION } = coordinator;
const NOW_MS = Date.now();

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function pruneAt(nowMs: number): Promise<void> {
  vi.setSystemTime(nowMs);
  for (const prune of Object.values(PRUNES)) await prune(coordinator, nowMs);
}

/** Returns the names of the tables of an object, without those of the platform. */
function tablesOf(stub: DurableObjectStub<AccessTokenObject>): Promise<readonly string[]> {
  return runInDurableObject(stub, (_, { storage }) => {
    const tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";
    return storage.sql
      .exec<{ name: string }>(tables)
      .toArray()
      .map(({ name }) => name);
  });
}

test('the object of an expired session is emptied, and an open one stays', async () => {
  const person = await enter('alice');
  const cookie = await login(person);
  const [{ results }] = (await DB.batch<{ id: string }>([
    DB.prepare('SELECT id FROM sessions WHERE user_id = ?').bind(person.id),
  ])) as [D1Result<{ id: string }>];
  const stub = SESSION.getByName(`session:${results[0]?.id}`) as unknown as DurableObjectStub<AccessTokenObject>;
  await pruneAt(NOW_MS + DAY_MS - 60_000);
  expect(await tablesOf(stub)).not.toEqual([]);
  await pruneAt(NOW_MS + DAY_MS + 60_000);
  expect(await tablesOf(stub)).toEqual([]);
  expect(await DB.prepare('SELECT 1 FROM sessions WHERE user_id = ?').bind(person.id).first()).toBeNull();
  const answer = await call('GET /user/me', { headers: { cookie, origin: 'http://conclave.test' } });
  expect([answer.status, answer.body['code']]).toEqual([401, 'session-invalid']);
  expect(await tablesOf(stub)).toEqual([]);
});

test('the object of a deleted token is emptied after 30 days, and one that was not deleted stays', async () => {
  const [bob, carol] = [await enter('bob'), await enter('carol')];
  const idOf = async (user: string) =>
    (await DB.prepare('SELECT id FROM access_tokens WHERE user_id = ?').bind(user).first<{ id: string }>())?.id ?? '';
  const [deleted, kept] = [await idOf(bob.id), await idOf(carol.id)];
  expect((await call(`DELETE /personal-access-token/${deleted}`, { token: bob.token })).status).toBeLessThan(300);
  // The directory alone says that this one is deleted.
  await DB.prepare('UPDATE access_tokens SET deleted_at_ms = 1 WHERE id = ?').bind(kept).run();
  const object = (id: string) => ACCESS_TOKEN.getByName(`token:${id}`);
  await pruneAt(NOW_MS + 29 * DAY_MS);
  expect(await tablesOf(object(deleted))).not.toEqual([]);
  await pruneAt(NOW_MS + 31 * DAY_MS);
  expect(await tablesOf(object(deleted))).toEqual([]);
  expect(await idOf(bob.id)).toBe('');
  expect((await call('GET /user/me', { token: bob.token })).body['code']).toBe('token-invalid');
  expect((await call('GET /user/me', { token: carol.token })).status).toBe(200);
  expect(await idOf(carol.id)).toBe(kept);
});

test.each(['deliveries', 'scans'] as const)(
  'completed %s go after 30 days, failed ones after 90, open ones never',
  async (table) => {
    const columns =
      table === 'deliveries'
        ? 'provider, endpoint_id, body, received_at_ms'
        : 'vault_id, chain, address, started_at_ms';
    const insert = (state: string) =>
      DB.prepare(`INSERT INTO ${table} (id, ${columns}, state, tries, due_at_ms) VALUES (?, ?, ?, ?, ?, ?, 1, 0)`)
        .bind(`${table}-${state}`, 1, 'a', 'b', NOW_MS, state)
        .run();
    for (const state of ['done', 'failed', 'open']) await insert(state);
    const states = async () =>
      (await DB.prepare(`SELECT state FROM ${table} ORDER BY state`).all<{ state: string }>()).results.map(
        ({ state }) => state,
      );
    await pruneAt(NOW_MS + 29 * DAY_MS);
    expect(await states()).toEqual(['done', 'failed', 'open']);
    await pruneAt(NOW_MS + 31 * DAY_MS);
    expect(await states()).toEqual(['failed', 'open']);
    await pruneAt(NOW_MS + 91 * DAY_MS);
    expect(await states()).toEqual(['open']);
  },
);

test('dead letters are deleted after 90 days', async () => {
  await DB.prepare("INSERT INTO dead_letters (id, queue, body, at_ms) VALUES ('x', 'q', '{}', ?)").bind(NOW_MS).run();
  await pruneAt(NOW_MS + 89 * DAY_MS);
  expect(await DB.prepare("SELECT id FROM dead_letters WHERE id = 'x'").first()).not.toBeNull();
  await pruneAt(NOW_MS + 91 * DAY_MS);
  expect(await DB.prepare("SELECT id FROM dead_letters WHERE id = 'x'").first()).toBeNull();
});

test('a vault with fifty addresses has all of them in the directory', async () => {
  const addresses = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`chain-${i}`, `0x${i}`]));
  await upsertWallets(DB, { vaultId: 900, keyId: 'key', addresses });
  await upsertWallets(DB, { vaultId: 901, keyId: 'other', addresses });
  const { results } = await DB.prepare(
    "SELECT vault_id, count(*) AS number FROM wallets WHERE chain LIKE 'chain-%' GROUP BY vault_id",
  ).all();
  expect(results).toEqual([{ vault_id: 900, number: 50 }]);
});
