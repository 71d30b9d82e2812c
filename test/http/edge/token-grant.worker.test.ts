import { beforeAll, expect, test } from 'vitest';
import type { Route } from '#http/edge/route.ts';
import type { TokenScope } from '#domain/access/token-grant.ts';
import { TOKEN_SCOPES } from '#domain/access/token-grant.ts';
import { parseVaultId } from '#domain/id.ts';
import { bodies } from '../../fuzz/bodies.ts';
import type { Promises } from '../../worker/main.ts';
import type { Answer, Treasury } from '../scene.worker.ts';
import {
  REQUIRED_QUERIES,
  anotherToken,
  call,
  coordinator,
  created,
  enter,
  foundTreasury,
  login,
  unknownPath,
} from '../scene.worker.ts';

/** Covers what a token gives access to: scopes, vaults and addresses, at every route of a user. */

let routes: readonly Route[];
let treasury: Treasury;

beforeAll(async () => {
  treasury = await foundTreasury();
  const { ROUTES } = (globalThis as unknown as { promises: Promises }).promises;
  routes = ROUTES.filter(
    ({ access, sessionOnly }) => !['service', 'monitor', 'anyone'].includes(access) && sessionOnly !== true,
  );
});

const outcome = ({ status, body }: Answer) => [status, body['code']];

/** Sends a valid request to a route, for things that the vault does not have. */
function sent(route: Route, token: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const query = REQUIRED_QUERIES[`${route.method} ${route.path}`] ?? '';
  const body = bodies(() => 0, { vaultId: treasury.id, strangeVaultId: treasury.id })[route.path];
  return call(`${route.method} ${unknownPath(treasury, route)}${query}`, {
    token,
    headers,
    ...(route.body === undefined ? {} : { body }),
  });
}

/** The rule, independently of the service. */
function requiredScope({ method, path, access }: Route): TokenScope | null {
  if (method === 'GET' || access === 'read') return 'read';
  if (path.startsWith('/personal-access-token')) return null;
  return /\/(approve|reject|renewal)$|credential-reset.*cancel$|\/member\//.test(path) ? 'approve' : 'create';
}

test('each route refuses a token without its scope, and admits one that has only that', async () => {
  for (const route of routes) {
    const scope = requiredScope(route);
    if (scope === null) continue;
    const line = `${route.method} ${route.path}`;
    const without = await anotherToken(treasury.alice, null, { scopes: TOKEN_SCOPES.filter((one) => one !== scope) });
    const refused = await sent(route, without.token);
    expect([line, ...outcome(refused)]).toEqual([line, 403, 'insufficient-scope']);
    expect(refused.headers.get('www-authenticate')).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);
    const only = await anotherToken(treasury.alice, null, { scopes: [scope] });
    expect([line, (await sent(route, only.token)).body['code']]).not.toEqual([line, 'insufficient-scope']);
  }
});

test('each route refuses a token of another vault, and everything that concerns all vaults', async () => {
  const other = parseVaultId(treasury.id + 1_000_000);
  if (other === null) throw new Error('the id is one of a vault');
  let refusals = 0;
  for (const route of routes) {
    const line = `${route.method} ${route.path}`;
    const { token } = await anotherToken(treasury.alice, null, { vaultIds: [other] });
    const isOpen =
      route.path.startsWith('/personal-access-token') || /^GET \/(user|push-subscription|feed|vault$)/.test(line);
    const answer = await sent(route, token);
    expect([line, answer.body['code'] === 'insufficient-scope']).toEqual([line, !isOpen]);
    refusals += isOpen ? 0 : 1;
  }
  expect(refusals).toBeGreaterThan(35);
});

test('the list of pending decisions leaves out the vaults that the token does not reach', async () => {
  const elsewhere = await foundTreasury();
  const [vaultId, other] = [parseVaultId(treasury.id), parseVaultId(elsewhere.id)];
  if (vaultId === null || other === null) throw new Error('the ids are those of vaults');
  await created({ ...treasury, alice: await anotherToken(treasury.carol) });
  const pendingFor = async (ids: readonly (typeof vaultId)[] | null) => {
    const { token } = await anotherToken(treasury.bob, null, { vaultIds: ids });
    return (await call('GET /user/me/pending', { token })).body['total'];
  };
  const all = await pendingFor(null);
  expect(all).toBeGreaterThan(0);
  expect([await pendingFor([vaultId]), await pendingFor([other])]).toEqual([all, 0]);
});

test('a token is accepted from its addresses alone, and others do not use its quota', async () => {
  const { token } = await anotherToken(treasury.bob, null, { networks: ['192.0.2.0/24', '2001:db8::/32'] });
  const from = (address: string | null) =>
    call('GET /user/me', { token, headers: address === null ? {} : { 'cf-connecting-ip': address } });
  for (const address of ['198.51.100.7', '2001:db9::1', null]) {
    expect([address, ...outcome(await from(address))]).toEqual([address, 403, 'address-not-allowed']);
  }
  const first = await from('192.0.2.255');
  expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"user-profile";r=299;t=60']);
  expect((await from('2001:db8:1::1')).status).toBe(200);
});

test('the owner chooses the access of a token, and the list shows it with its last use', async () => {
  const owner = await enter('owner');
  const headers = { cookie: await login(owner), origin: 'http://conclave.test' };
  const grant = { scopes: ['read', 'approve'], vaultIds: [treasury.id], allowedAddresses: ['203.0.113.0/24'] };
  const issued = await call('POST /session/access-token', { headers, body: { name: 'phone', ...grant } });
  expect([issued.status, issued.body]).toMatchObject([201, { ...grant, lastUsedAddress: null, lastUsedAgent: null }]);
  const from = { 'cf-connecting-ip': '203.0.113.9', 'user-agent': 'payout/1.2\t(night)' };
  await call('GET /user/me', { token: issued.body['token'], headers: from });
  const { body } = await call(`GET /personal-access-token/${issued.body['id']}`, { headers });
  expect(body).toMatchObject({ ...grant, lastUsedAddress: '203.0.113.9', lastUsedAgent: 'payout/1.2(night)' });
});

test.each([
  [{ scopes: [] }, '/scopes'],
  [{ scopes: ['read', 'read'] }, '/scopes'],
  [{ scopes: ['everything'] }, '/scopes/0'],
  [{ vaultIds: [] }, '/vaultIds'],
  [{ vaultIds: [0] }, '/vaultIds/0'],
  [{ allowedAddresses: [] }, '/allowedAddresses'],
  [{ allowedAddresses: ['192.0.2.1/24'] }, '/allowedAddresses/0'],
])('a token with %j is not created', async (body, pointer) => {
  const owner = await enter('owner');
  const headers = { cookie: await login(owner), origin: 'http://conclave.test' };
  const refused = await call('POST /session/access-token', { headers, body: { name: 'odd', ...body } });
  expect([refused.status, refused.body['errors']?.[0].pointer]).toEqual([400, pointer]);
});

test('the operator limits the life of new and of extended tokens', async () => {
  const owner = await enter('owner');
  const env = { ...coordinator, MAX_TOKEN_DAYS: '30' };
  const [day, now] = [86_400, Math.floor(Date.now() / 1000)];
  const headers = { cookie: await login(owner), origin: 'http://conclave.test' };
  const tooLate = async (line: string, body: object) => {
    const answer = await call(line, { headers, env, body });
    return answer.status === 400 ? answer.body['errors'][0].code : answer.status;
  };
  const line = 'POST /session/access-token';
  expect(await tooLate(line, { name: 'endless' })).toBe('too-late');
  expect(await tooLate(line, { name: 'long', expiresAt: now + 31 * day })).toBe('too-late');
  expect(await tooLate(line, { name: 'short', expiresAt: now + 29 * day })).toBe(201);
  const old = `PATCH /personal-access-token/${owner.token.slice(12, 28)}`;
  expect(await tooLate(old, { expiresAt: now + 31 * day })).toBe('too-late');
  expect(await tooLate(old, { name: 'a token of before keeps its end' })).toBe(200);
});
