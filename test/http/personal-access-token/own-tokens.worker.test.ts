import { evictDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import type { Answer, Person } from '../scene.worker.ts';
import { anotherToken, call, coordinator, enter, PATIENCE_MS } from '../scene.worker.ts';

/**
 * Covers personal access tokens (spec part 4): what their owners, and only their owners, can do
 * with them.
 */

afterEach(() => {
  vi.useRealTimers();
});

const idOf = ({ token }: Person) => token.slice(12, 28);
const me = async (token: string) => (await call('GET /user/me', { token })).status;
const code = ({ status, body }: Answer) => [status, body['code']];
const path = (person: Person) => `/personal-access-token/${idOf(person)}`;

test('the list has every token that was not deleted, newest first, without their values', async () => {
  const trent = await enter('trent');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 });
  const second = await anotherToken(trent);
  vi.setSystemTime(Date.now() + 1000);
  const third = await anotherToken(trent);
  await call(`PATCH ${path(second)}`, { token: third.token, body: { enabled: false } });
  const { status, body } = await call('GET /personal-access-token', { token: trent.token });
  expect(status).toBe(200);
  expect(body['tokens'].map((token: { id: string }) => token.id)).toEqual([third, second, trent].map(idOf));
  expect(body['tokens'].map((token: { enabled: boolean }) => token.enabled)).toEqual([true, false, true]);
  for (const { token } of [trent, second, third]) {
    expect(JSON.stringify(body)).not.toContain(token.slice(28, 60));
    expect(JSON.stringify(body)).not.toContain('ecretHash');
  }
  await call(`DELETE ${path(second)}`, { token: trent.token });
  const after = await call('GET /personal-access-token', { token: trent.token });
  expect(after.body['tokens'].map((token: { id: string }) => token.id)).toEqual([third, trent].map(idOf));
});

test('a read of a token gives its name, its dates and whether it is enabled', async () => {
  const trent = await enter('trent', { name: 'nightly payouts', expiresAt: 4_000_000_000 });
  const { status, body } = await call(`GET ${path(trent)}`, { token: trent.token });
  expect(status).toBe(200);
  expect(body).toEqual({
    id: idOf(trent),
    name: 'nightly payouts',
    expiresAt: 4_000_000_000,
    enabled: true,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    updatedAt: body['createdAt'],
    rotatedAt: null,
    lastUsedAt: expect.stringMatching(/^\d{4}-/),
    lastUsedAddress: null,
    lastUsedAgent: null,
    scopes: ['read', 'create', 'approve', 'manage-tokens'],
    vaultIds: null,
    allowedAddresses: null,
    previousValueUntil: null,
  });
});

test('the time of the last use of a token survives a hibernation of its object', async () => {
  const trent = await enter('trent');
  const other = await anotherToken(trent);
  const unused = await call(`GET ${path(other)}`, { token: trent.token });
  expect(unused.body['lastUsedAt']).toBeNull();
  await me(other.token);
  const used = await call(`GET ${path(other)}`, { token: trent.token });
  expect(used.body['lastUsedAt']).not.toBeNull();
  const stub = coordinator.ACCESS_TOKEN.getByName(`token:${idOf(other)}`);
  await vi.waitFor(() => evictDurableObject(stub), PATIENCE_MS);
  const later = await call(`GET ${path(other)}`, { token: trent.token });
  expect(later.body['lastUsedAt']).toBe(used.body['lastUsedAt']);
});

test('a change of a token applies from the next request on', async () => {
  const trent = await enter('trent');
  const other = await anotherToken(trent);
  const renamed = await call(`PATCH ${path(other)}`, { token: trent.token, body: { name: 'robot' } });
  expect([renamed.status, renamed.body['name'], renamed.body['enabled']]).toEqual([200, 'robot', true]);
  const disabled = await call(`PATCH ${path(other)}`, { token: trent.token, body: { enabled: false } });
  expect([disabled.status, disabled.body['enabled'], await me(other.token)]).toEqual([200, false, 401]);
  expect(code(await call('GET /user/me', { token: other.token }))).toEqual([401, 'token-disabled']);
  await call(`PATCH ${path(other)}`, { token: trent.token, body: { enabled: true } });
  expect(await me(other.token)).toBe(200);
});

test('an expired token stays visible as disabled, and works again with a later expiry', async () => {
  const soon = Math.floor(Date.now() / 1000) + 60;
  const trent = await enter('trent');
  const short: Person = await anotherToken(trent, soon);
  vi.useFakeTimers({ toFake: ['Date'], now: (soon + 1) * 1000 });
  expect(code(await call('GET /user/me', { token: short.token }))).toEqual([401, 'token-expired']);
  const seen = await call(`GET ${path(short)}`, { token: trent.token });
  expect([seen.body['enabled'], seen.body['expiresAt']]).toEqual([false, soon]);
  const refused = await call(`PATCH ${path(short)}`, { token: trent.token, body: { enabled: true } });
  expect(code(refused)).toEqual([409, 'access-token-inactive']);
  const body = { enabled: true, expiresAt: soon + 3600 };
  expect((await call(`PATCH ${path(short)}`, { token: trent.token, body })).status).toBe(200);
  expect(await me(short.token)).toBe(200);
});

test('a rotation shows a new value once, and the old one works for exactly five minutes more', async () => {
  const trent = await enter('trent');
  const startMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: startMs });
  const rotated = await call(`POST ${path(trent)}/rotate`, { token: trent.token });
  const fresh: string = rotated.body['token'];
  expect(rotated.status).toBe(200);
  expect(fresh).toMatch(/^service_pat_[0-9A-Za-z]{55}$/);
  expect(fresh.slice(12, 28)).toBe(idOf(trent));
  expect(rotated.body['previousValueUntil']).toBe(new Date(startMs + 300_000).toISOString());
  expect([await me(trent.token), await me(fresh)]).toEqual([200, 200]);
  vi.setSystemTime(startMs + 299_999);
  expect(await me(trent.token)).toBe(200);
  vi.setSystemTime(startMs + 300_000);
  expect(code(await call('GET /user/me', { token: trent.token }))).toEqual([401, 'token-invalid']);
  expect(await me(fresh)).toBe(200);
  const read = await call(`GET ${path(trent)}`, { token: fresh });
  expect([read.body['previousValueUntil'], 'token' in read.body]).toEqual([null, false]);
});

test('a second rotation keeps the value before it, and ends the first value at once', async () => {
  const trent = await enter('trent');
  const second = (await call(`POST ${path(trent)}/rotate`, { token: trent.token })).body['token'];
  const third = (await call(`POST ${path(trent)}/rotate`, { token: second })).body['token'];
  expect([await me(trent.token), await me(second), await me(third)]).toEqual([401, 200, 200]);
});

test('a rotation whose response was lost is repeated with the value before it and the same key', async () => {
  const trent = await enter('trent');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  const rotate = (token: string, key: string) =>
    call(`POST ${path(trent)}/rotate`, { token, headers: { 'idempotency-key': key } });
  const [key, other] = ['0b7e3f51-6a3d-4c0f-9d57-1f4a3c2b8e90', 'c0ffee00-0000-4000-8000-000000000000'];
  expect(code(await rotate(trent.token, 'rotation-2026-12'))).toEqual([400, 'invalid-request']);
  const lost = await rotate(trent.token, key);
  const repeated = await rotate(trent.token, key);
  expect([repeated.status, repeated.body['token']]).toEqual([200, lost.body['token']]);
  expect(repeated.body['rotatedAt']).toBe(lost.body['rotatedAt']);
  vi.setSystemTime(Date.now() + 61_000);
  // A thief of the old value does not know the key.
  expect(code(await rotate(trent.token, other))).toEqual([403, 'access-token-superseded']);
  vi.setSystemTime(Date.now() + 239_000);
  expect(code(await rotate(trent.token, key))).toEqual([401, 'token-invalid']);
  // The same key never gives a value again that a later rotation has replaced.
  const next = await rotate(lost.body['token'], key);
  expect([next.status, next.body['token'] === lost.body['token']]).toEqual([200, false]);
});

test('a disabled token cannot be rotated', async () => {
  const trent = await enter('trent');
  const other = await anotherToken(trent);
  await call(`PATCH ${path(other)}`, { token: trent.token, body: { enabled: false } });
  expect(code(await call(`POST ${path(other)}/rotate`, { token: trent.token }))).toEqual([
    409,
    'access-token-inactive',
  ]);
});

test('a deletion is permanent, and also ends the value in its grace period', async () => {
  const trent = await enter('trent');
  const other = await anotherToken(trent);
  const fresh = (await call(`POST ${path(other)}/rotate`, { token: trent.token })).body['token'];
  const deleted = await call(`DELETE ${path(other)}`, { token: trent.token });
  expect([deleted.status, deleted.body]).toEqual([204, {}]);
  expect([await me(other.token), await me(fresh)]).toEqual([401, 401]);
  const late = await anotherToken(trent);
  for (const line of ['GET', 'PATCH', 'DELETE']) {
    const body = line === 'PATCH' ? { body: { enabled: true } } : {};
    expect(code(await call(`${line} ${path(other)}`, { token: late.token, ...body }))).toEqual([
      404,
      'access-token-not-found',
    ]);
  }
  expect(await me(fresh)).toBe(401);
});

test('the last token of a user may delete itself', async () => {
  const trent = await enter('trent');
  expect((await call(`DELETE ${path(trent)}`, { token: trent.token })).status).toBe(204);
  expect(await me(trent.token)).toBe(401);
});

test('a token of another user is invisible: the response is the one for a token that never existed', async () => {
  const [trent, mallory] = [await enter('trent'), await enter('mallory')];
  const never = `/personal-access-token/${'Z'.repeat(16)}`;
  const bodies: Record<string, object> = { PATCH: { body: { enabled: false } } };
  for (const line of ['GET', 'PATCH', 'DELETE', 'POST']) {
    const suffix = line === 'POST' ? '/rotate' : '';
    const { token } = await anotherToken(mallory);
    const theirs = await call(`${line} ${path(trent)}${suffix}`, { token, ...bodies[line] });
    const nothing = await call(`${line} ${never}${suffix}`, { token, ...bodies[line] });
    const same = ({ status, body }: Answer) => [status, { ...body, requestId: '' }];
    expect([line, ...same(theirs)]).toEqual([line, ...same(nothing)]);
    expect(theirs.status).toBe(404);
  }
  expect(await me(trent.token)).toBe(200);
  const list = await call('GET /personal-access-token', { token: mallory.token });
  expect(list.body['tokens'].map((token: { id: string }) => token.id)).not.toContain(idOf(trent));
});

test('a token can extend another token of its owner, and not itself', async () => {
  const trent = await enter('trent', { expiresAt: 4_000_000_000 });
  const other = await anotherToken(trent);
  const longer = { expiresAt: 4_000_000_001 };
  expect(code(await call(`PATCH ${path(trent)}`, { token: trent.token, body: longer }))).toEqual([
    403,
    'access-token-own-expiry',
  ]);
  expect((await call(`PATCH ${path(trent)}`, { token: other.token, body: longer })).status).toBe(200);
  expect((await call(`PATCH ${path(trent)}`, { token: trent.token, body: { expiresAt: 3_999_999_999 } })).status).toBe(
    200,
  );
});

test.each([
  [{}, '/'],
  [{ name: '' }, '/name'],
  [{ name: 'A\u202E' }, '/name'],
  [{ enabled: 'yes' }, '/enabled'],
  [{ enabled: null }, '/enabled'],
  [{ expiresAt: 1 }, '/expiresAt'],
  [{ expiresAt: 1.5 }, '/expiresAt'],
  [{ expiresAt: '4000000000' }, '/expiresAt'],
  [{ expiresAt: 253_402_300_800 }, '/expiresAt'],
  [{ expiresAt: 1e300 }, '/expiresAt'],
  [{ name: 'x', value: 'y' }, '/value'],
])('the invalid change %j is refused and changes nothing', async (body, pointer) => {
  const trent = await enter('trent');
  const before = await call(`GET ${path(trent)}`, { token: trent.token });
  const answer = await call(`PATCH ${path(trent)}`, { token: trent.token, body });
  expect([answer.status, answer.body['errors'][0].pointer]).toEqual([400, pointer]);
  const after = await call(`GET ${path(trent)}`, { token: trent.token });
  expect({ ...after.body, lastUsedAt: '' }).toEqual({ ...before.body, lastUsedAt: '' });
});

test('an invalid id is a bad request', async () => {
  const trent = await enter('trent');
  for (const id of ['abc', `${'A'.repeat(15)}-`, 'A'.repeat(17), '%00']) {
    const answer = await call(`GET /personal-access-token/${id}`, { token: trent.token });
    expect([id, answer.status, answer.body['code']]).toEqual([id, 400, 'invalid-request']);
  }
});

test('token management has its own limits: ten reads, five changes and three new values', async () => {
  const trent = await enter('trent');
  const statuses = async (count: number, line: string, body?: unknown) => {
    const seen: number[] = [];
    for (let i = 0; i < count; i++) {
      const sent = body === undefined ? {} : { body };
      seen.push((await call(line, { token: trent.token, ...sent })).status);
    }
    return seen;
  };
  const passed = (count: number) => [...Array.from({ length: count }, () => 200), 429];
  expect(await statuses(11, `GET ${path(trent)}`)).toEqual(passed(10));
  expect(await statuses(6, `PATCH ${path(trent)}`, { name: 'x' })).toEqual(passed(5));
  let { token } = trent;
  for (let i = 0; i < 3; i++) {
    const rotated = await call(`POST ${path(trent)}/rotate`, { token });
    expect([i, rotated.status]).toEqual([i, 200]);
    token = rotated.body['token'];
  }
  expect((await call(`POST ${path(trent)}/rotate`, { token })).status).toBe(429);
  expect((await call(`DELETE ${path(trent)}`, { token })).status).toBe(429);
});

test('a deleted token is refused for every request that begins after the response to the deletion', async () => {
  const trent = await enter('trent');
  const other = await anotherToken(trent);
  const before = Array.from({ length: 20 }, () => me(other.token));
  const answer = await call(`DELETE ${path(other)}`, { token: trent.token });
  const after = await Promise.all(Array.from({ length: 20 }, () => me(other.token)));
  expect([answer.status, new Set(after)]).toEqual([204, new Set([401])]);
  await Promise.all(before);
});

let positions = 0;

/**
 * Sends each request from another address, because addresses with too many failures are blocked.
 */
async function meFromElsewhere(token: string): Promise<number> {
  positions += 1;
  const headers = { 'cf-connecting-ip': `198.51.${Math.floor(positions / 250) % 250}.${positions % 250}` };
  return (await call('GET /user/me', { token, headers })).status;
}

test('a request that begins after the response to a change gets the new state', async () => {
  const withdrawals: readonly (readonly [string, (person: Person, manager: string) => Promise<Answer>])[] = [
    ['deleted', (person, token) => call(`DELETE ${path(person)}`, { token })],
    ['disabled', (person, token) => call(`PATCH ${path(person)}`, { token, body: { enabled: false } })],
    // The first of two rotations leaves a grace period to the old value. The second one ends that
    // value.
    [
      'rotated twice',
      async (person, token) => {
        const first = await call(`POST ${path(person)}/rotate`, { token });
        expect(await me(person.token)).toBe(200);
        expect(first.status).toBe(200);
        return call(`POST ${path(person)}/rotate`, { token });
      },
    ],
  ];
  for (const [name, withdraw] of withdrawals) {
    for (let round = 0; round < 10; round++) {
      const owner = await enter('trent');
      const used = await anotherToken(owner);
      let withdrawn = false;
      let late = 0;
      // Each request records at its start whether the response to the change has arrived.
      const users = Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 12; i++) {
          const beganAfter = withdrawn;
          if ((await meFromElsewhere(used.token)) === 200 && beganAfter) late += 1;
        }
      });
      const answer = await withdraw(used, owner.token);
      withdrawn = true;
      await Promise.all(users);
      expect([name, answer.status < 300, late, await meFromElsewhere(used.token)]).toEqual([name, true, 0, 401]);
    }
  }
});

test('as many simultaneous rotations as a user has leave one new value and at most one old one', async () => {
  const trent = await enter('trent');
  const used = await anotherToken(trent);
  const managers = await Promise.all(Array.from({ length: 3 }, () => anotherToken(trent)));
  const answers = await Promise.all(
    managers.flatMap(({ token }) => [1, 2, 3].map(() => call(`POST ${path(used)}/rotate`, { token }))),
  );
  const values = answers.filter(({ status }) => status === 200).map(({ body }) => String(body['token']));
  expect([answers.length, values.length, new Set(values).size]).toEqual([9, 9, 9]);
  const alive: string[] = [];
  for (const value of [used.token, ...values]) if ((await meFromElsewhere(value)) === 200) alive.push(value);
  expect(alive).toHaveLength(2);
});
