import { afterEach, expect, test, vi } from 'vitest';
import type { Answer, RequestOptions, Person } from '../scene.worker.ts';
import { call, asService, created, enter, foundTreasury, login, PATIENCE_MS, payment } from '../scene.worker.ts';

/**
 * Covers sessions of a browser: what a cookie opens, from which origin, and for how long (spec part
 * 5 method 2).
 */

afterEach(() => {
  vi.useRealTimers();
});

const SITE = 'http://conclave.test';
const HOUR_MS = 60 * 60 * 1000;
const code = ({ status, body }: Answer) => [status, body['code']];

const browse = (line: string, cookie: string, options: RequestOptions = {}): Promise<Answer> =>
  call(line, { ...options, headers: { cookie, origin: SITE, 'sec-fetch-site': 'same-origin', ...options.headers } });

test('a cookie opens the routes that a token opens, with the same rights and its own limits', async () => {
  const treasury = await foundTreasury();
  const [alice, victor] = [await login(treasury.alice), await login(treasury.victor)];
  const me = await browse('GET /user/me', alice);
  expect([me.status, me.body['id']]).toEqual([200, treasury.alice.id]);
  const made = await browse('POST /transaction/transfer', alice, { body: payment(treasury) });
  expect([made.status, made.headers.get('ratelimit')]).toEqual([201, '"write";r=29;t=60']);
  expect((await browse('POST /transaction/transfer', victor, { body: payment(treasury) })).status).toBe(403);
  const bob = await login(treasury.bob);
  const approved = await browse(`POST /transaction/${made.body['id']}/approve`, bob);
  expect([approved.status, approved.body['approvals'][0].userId]).toEqual([200, treasury.bob.id]);
});

test('the cookie is for this host only, inaccessible to scripts, and shown once', async () => {
  const person = await enter('alice');
  const { body } = await asService(`POST /internal/user/${person.id}/session`);
  expect(body['cookie']).toMatch(
    /^__Host-session=service_ses_[0-9A-Za-z]{55}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=86400$/,
  );
  expect(Object.keys(body).toSorted()).toEqual(['cookie', 'createdAt', 'endsAt', 'id', 'userId']);
  expect((await asService('POST /internal/user/usr_01J00000000000000000000000/session')).status).toBe(404);
});

test('a session value is not accepted as a token, nor a token as a session', async () => {
  const person = await enter('alice');
  const cookie = await login(person);
  const value = cookie.replace('__Host-session=', '');
  expect(code(await call('GET /user/me', { token: value }))).toEqual([401, 'token-invalid']);
  const disguised = value.replace('service_ses_', 'service_pat_');
  expect(code(await call('GET /user/me', { token: disguised }))).toEqual([401, 'token-invalid']);
  expect(code(await browse('GET /user/me', `__Host-session=${person.token}`))).toEqual([401, 'session-invalid']);
  const both = await browse('GET /user/me', cookie, { token: 'service_pat_wrong' });
  expect(code(both)).toEqual([401, 'token-invalid']);
});

test.each([
  ['another name', (cookie: string) => cookie.replace('__Host-', '')],
  ['a changed letter', (cookie: string) => `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}`],
  ['nothing in it', () => '__Host-session='],
  ['two of one name', (cookie: string) => `${cookie}; ${cookie}`],
])('a cookie with %s opens nothing', async (_name, change) => {
  const cookie = change(await login(await enter('alice')));
  expect((await browse('GET /user/me', cookie)).status).toBe(401);
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['a page of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['another host of the same site', { origin: 'http://other.conclave.test', 'sec-fetch-site': 'same-site' }],
  ['a form of an old browser', { origin: 'https://evil.example', 'sec-fetch-site': '' }],
  ['a page without an origin', { origin: 'null', 'sec-fetch-site': '' }],
])('a command by %s is refused, and changes nothing', async (_name, from) => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.alice);
  const headers = Object.fromEntries(Object.entries(from).filter(([, value]) => value !== ''));
  const answer = await call('POST /transaction/transfer', { body: payment(treasury), headers: { cookie, ...headers } });
  expect(code(answer)).toEqual([403, 'cross-site-request']);
  const list = await browse(`GET /vault/${treasury.id}/transactions`, cookie);
  expect(list.body['transactions']).toEqual([]);
});

test('a command without an origin is refused, and a read is not', async () => {
  const cookie = await login(await enter('alice'));
  expect(code(await call('DELETE /session', { headers: { cookie } }))).toEqual([403, 'cross-site-request']);
  expect((await call('GET /user/me', { headers: { cookie } })).status).toBe(200);
  const typed = { cookie, 'sec-fetch-site': 'none' };
  expect((await call('GET /user/me', { headers: typed })).status).toBe(200);
  const embedded = { cookie, 'sec-fetch-site': 'cross-site' };
  expect((await call('GET /user/me', { headers: embedded })).status).toBe(403);
});

test('a logout ends the session in every browser at once, and its cookie is deleted', async () => {
  const cookie = await login(await enter('alice'));
  const out = await browse('DELETE /session', cookie);
  expect([out.status, out.headers.get('set-cookie')]).toEqual([
    204,
    '__Host-session=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0',
  ]);
  const again = await browse('GET /user/me', cookie);
  expect([...code(again), again.headers.get('set-cookie')?.includes('Max-Age=0')]).toEqual([
    401,
    'session-invalid',
    true,
  ]);
});

test('a logout everywhere ends every login of that person, and of no other user', async () => {
  const [alice, bob] = [await enter('alice'), await enter('bob')];
  const [here, there, his] = [await login(alice), await login(alice), await login(bob)];
  const out = await browse('DELETE /sessions', here);
  expect([out.status, out.headers.get('set-cookie')?.includes('Max-Age=0')]).toEqual([204, true]);
  for (const cookie of [here, there])
    expect(code(await browse('GET /user/me', cookie))).toEqual([401, 'session-invalid']);
  expect((await browse('GET /user/me', his)).status).toBe(200);
  expect((await call('GET /user/me', { token: alice.token })).status).toBe(200);
});

test('the session lists the vaults of its user, with the data that each vault reports', async () => {
  const [treasury, other] = [await foundTreasury(), await foundTreasury()];
  const seen = async (person: Person) => {
    const { status, body } = await browse('GET /session/vaults', await login(person));
    expect(status).toBe(200);
    return body['data'] as readonly Readonly<Record<string, unknown>>[];
  };
  await vi.waitFor(async () => expect(await seen(treasury.alice)).toHaveLength(1), PATIENCE_MS);
  expect(await seen(treasury.alice)).toEqual([
    {
      id: treasury.id,
      name: expect.any(String) as string,
      roles: expect.arrayContaining(['signer']) as string[],
      threshold: 2,
      approvalMode: 'token',
      membership: 'accepted',
      namesakes: [],
      // All vaults of these tests have the same address, which already has an owner.
      wallets: expect.any(Array) as unknown[],
      members: expect.arrayContaining([
        { userId: treasury.alice.id, name: expect.any(String) as string, hasNamesake: false },
      ]) as unknown[],
    },
  ]);
  await vi.waitFor(async () => expect((await seen(other.victor)).map(({ id }) => id)).toEqual([other.id]), PATIENCE_MS);
  // A user sees a second vault once added to it, and no longer once removed, whatever the directory
  // contains.
  const path = `/internal/vault/${other.id}/member/${treasury.victor.id}`;
  await asService(`PUT ${path}`, { roles: ['viewer'] });
  await vi.waitFor(async () => expect(await seen(treasury.victor)).toHaveLength(2), PATIENCE_MS);
  await asService(`DELETE ${path}`);
  expect((await seen(treasury.victor)).map(({ id }) => id)).toEqual([treasury.id]);
  expect(await seen(await enter('stranger'))).toEqual([]);
});

test('a login session can create a token, and a token cannot', async () => {
  const alice = await enter('alice');
  const cookie = await login(alice);
  const line = 'POST /session/access-token';
  expect(code(await call(line, { token: alice.token, body: { name: 'ci' } }))).toEqual([403, 'session-required']);
  for (const body of [
    {},
    { name: ' ' },
    { name: 'ci', expiresAt: 'tomorrow' },
    { name: 'ci', expiresAt: 1 },
    { name: 'ci', userId: alice.id },
  ]) {
    expect((await browse(line, await login(alice), { body })).status).toBe(400);
  }
  const expiresAt = Math.floor(Date.now() / 1000) + 3600;
  const made = await browse(line, await login(alice), { body: { name: 'ci', expiresAt } });
  expect([made.status, made.body['name'], made.headers.get('cache-control')]).toEqual([201, 'ci', 'no-store']);
  const me = await call('GET /user/me', { token: String(made.body['token']) });
  expect([me.status, me.body['id']]).toEqual([200, alice.id]);
  // The value of the token is stored nowhere.
  const listed = await browse('GET /personal-access-token', cookie);
  expect(JSON.stringify(listed.body)).toContain(String(made.body['id']));
  expect(JSON.stringify(listed.body)).not.toContain(String(made.body['token']));
});

test('a session ends after two hours without a request, and after a day in any case', async () => {
  const began = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: began });
  const [idle, busy] = [await login(await enter('alice')), await login(await enter('bob'))];
  for (let hour = 1; hour <= 23; hour++) {
    vi.setSystemTime(began + hour * HOUR_MS);
    expect((await browse('GET /user/me', busy)).status).toBe(200);
  }
  expect(code(await browse('GET /user/me', idle))).toEqual([401, 'session-expired']);
  vi.setSystemTime(began + 24 * HOUR_MS);
  expect(code(await browse('GET /user/me', busy))).toEqual([401, 'session-expired']);
});

test('a token is refused on routes that only a browser session may use', async () => {
  const treasury = await foundTreasury();
  for (const line of ['DELETE /session', 'DELETE /sessions', `GET /vault/${treasury.id}/events`]) {
    expect(code(await call(line, { token: treasury.alice.token }))).toEqual([403, 'session-required']);
  }
});

test('the limits of a session are separate from those of the user’s tokens', async () => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.alice);
  await created(treasury);
  for (let i = 0; i < 300; i++) expect((await browse(`GET /vault/${treasury.id}/policy`, cookie)).status).toBe(200);
  expect(code(await browse(`GET /vault/${treasury.id}/policy`, cookie))).toEqual([429, 'quota-exceeded']);
  const { token } = treasury.alice;
  expect((await call(`GET /vault/${treasury.id}/policy`, { token })).status).toBe(200);
});
