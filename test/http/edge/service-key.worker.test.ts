import { env as bindings } from 'cloudflare:workers';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { ServiceScope } from '#domain/operations/service-key.ts';
import { SERVICE_SCOPES } from '#domain/operations/service-key.ts';
import type { Route } from '#http/edge/route.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { Promises } from '../../worker/main.ts';
import type { Answer, Treasury } from '../scene.worker.ts';
import { call, coordinator, foundTreasury, unknownPath } from '../scene.worker.ts';
import { hashOf, withServiceKeys } from '../service-keys.worker.ts';

/** Covers what a service key opens: scopes, addresses and the limit, at every internal route. */

const [KEY, OTHER] = ['service_key_of_one_program', 'service_key_of_another_program'];

let routes: readonly Route[];
let treasury: Treasury;

beforeAll(async () => {
  treasury = await foundTreasury();
  const { ROUTES } = (globalThis as unknown as { promises: Promises }).promises;
  routes = ROUTES.filter(({ access }) => access === 'service');
});

afterEach(() => {
  vi.restoreAllMocks();
});

const outcome = ({ status, body }: Answer) => [status, body['code']];

/** The rule, independently of the service. A path without a row fails. */
const SCOPES: readonly (readonly [path: RegExp, scope: ServiceScope])[] = [
  [/^\/internal\/(status|metrics|dead-letter|alert\/acknowledge|transaction\/:txId)$/, 'status'],
  [/^\/internal\/user(\/|$)/, 'people'],
  [/^\/internal\/vault\/:vaultId\/recovery$/, 'recovery'],
  [/^\/internal\/vault(\/:vaultId(\/(member|wallet|key|policy-change|projection)(\/|$)|$)|$)/, 'vaults'],
];

function requiredScope({ path }: Route): ServiceScope {
  const scopes = SCOPES.flatMap(([pattern, scope]) => (pattern.test(path) ? [scope] : []));
  expect([path, scopes.length]).toEqual([path, 1]);
  return scopes[0] ?? 'status';
}

/** Counts like the platform, with a limit of two for each key. */
function smallShield() {
  const counted = new Map<string, number>();
  const limit = async ({ key }: { readonly key: string }) => {
    counted.set(key, (counted.get(key) ?? 0) + 1);
    return { success: (counted.get(key) ?? 0) <= 2 };
  };
  return { counted, SHIELD: { limit } };
}

/** Sends a request without a body that no route executes for lack of one, or for unknown things. */
function send(route: Route, env: CoordinatorEnv): Promise<Answer> {
  return call(`${route.method} ${unknownPath(treasury, route)}`, { token: KEY, env });
}

test('each internal route refuses a key with every scope but its own, and admits one with that alone', async () => {
  const used = new Set<ServiceScope>();
  for (const route of routes) {
    const line = `${route.method} ${route.path}`;
    const scope = requiredScope(route);
    used.add(scope);
    const others = SERVICE_SCOPES.filter((one) => one !== scope);
    const refused = await send(route, withServiceKeys([{ key: KEY, scopes: others }]));
    expect([line, ...outcome(refused), refused.body['scope']]).toEqual([line, 403, 'insufficient-scope', scope]);
    expect(refused.headers.get('www-authenticate')).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);
    const { status } = await send(route, withServiceKeys([{ key: KEY, scopes: [scope] }]));
    expect([line, [401, 403, 429, 500].includes(status)]).toEqual([line, false]);
  }
  expect([...used].toSorted()).toEqual(SERVICE_SCOPES.toSorted());
});

test('a key in a list of hashes opens every internal route from every address', async () => {
  const env = { ...coordinator, SERVICE_KEY_HASHES: `${hashOf(OTHER)}, ${hashOf(KEY)}` };
  for (const route of routes) {
    const { status } = await send(route, env);
    expect([route.path, [401, 403, 429, 500].includes(status)]).toEqual([route.path, false]);
  }
});

test('a key is accepted from its addresses alone, and a thief elsewhere tries with the limit of an address', async () => {
  const { counted, SHIELD } = smallShield();
  const addresses = ['192.0.2.0/24', '2001:db8::/32'];
  const env = { ...withServiceKeys([{ key: KEY, scopes: ['status'], addresses }]), SHIELD };
  const from = (address: string | null, line = 'GET /internal/dead-letter') =>
    call(line, { token: KEY, env, headers: address === null ? {} : { 'cf-connecting-ip': address } });
  for (const address of ['198.51.100.7', '2001:db9::1', null]) {
    expect([address, ...outcome(await from(address))]).toEqual([address, 403, 'address-not-allowed']);
  }
  // The scope is not checked for another address, so its answer does not reveal the scopes.
  expect(outcome(await from('198.51.100.7', 'POST /internal/user'))).toEqual([403, 'address-not-allowed']);
  expect(outcome(await from('198.51.100.7'))).toEqual([429, 'quota-exceeded']);
  expect([...counted.keys()]).toEqual(['198.51.100.7', '2001:db9:0:0::/64', 'local']);
  expect((await from('192.0.2.255')).status).toBe(200);
  expect((await from('2001:db8:1::1')).status).toBe(200);
});

test('a key has one limit for all addresses, which comes before the scope and spares other keys', async () => {
  const { SHIELD } = smallShield();
  const keys = [KEY, OTHER].map((key) => ({ key, scopes: ['status'] }));
  const env = { ...withServiceKeys(keys), SHIELD };
  const from = (token: string, address: string, line = 'GET /internal/dead-letter') =>
    call(line, { token, env, headers: { 'cf-connecting-ip': address } });
  expect((await from(KEY, '192.0.2.1')).status).toBe(200);
  expect(outcome(await from(KEY, '192.0.2.2', 'POST /internal/user'))).toEqual([403, 'insufficient-scope']);
  const refused = await from(KEY, '192.0.2.3');
  expect([...outcome(refused), refused.headers.get('retry-after')]).toEqual([429, 'quota-exceeded', '60']);
  expect(outcome(await from(KEY, '192.0.2.4', 'POST /internal/user'))).toEqual([429, 'quota-exceeded']);
  expect((await from(OTHER, '192.0.2.3')).status).toBe(200);
});

test('the platform refuses a key after the documented number of requests from as many addresses', async () => {
  const { SHIELD } = bindings as unknown as CoordinatorEnv;
  const env = { ...withServiceKeys([KEY, OTHER].map((key) => ({ key, scopes: ['status'] }))), SHIELD };
  const tried = (token: string, n: number) => {
    const headers = { 'cf-connecting-ip': `2001:db8:${n.toString(16)}::1` };
    return call('POST /internal/vault', { token, env, headers });
  };
  let admitted = 0;
  // Two windows of the platform can meet in these requests.
  while (admitted <= 1200 && (await tried(KEY, admitted)).status === 403) admitted += 1;
  expect(admitted).toBeGreaterThanOrEqual(600);
  expect(admitted).toBeLessThanOrEqual(1200);
  expect(outcome(await tried(OTHER, 0))).toEqual([403, 'insufficient-scope']);
});

test('a malformed setting admits no key, and neither the answer nor the log has its content', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const entry = { hash: hashOf(KEY), scopes: ['status'] };
  const settings = [
    JSON.stringify([entry, { ...entry, hash: hashOf(OTHER), scopes: ['everything'] }]),
    JSON.stringify([entry, entry]),
    `[${hashOf(KEY)}]`,
    JSON.stringify(entry),
  ];
  for (const SERVICE_KEY_HASHES of settings) {
    const env = { ...coordinator, SERVICE_KEY_HASHES };
    const answer = await call('GET /internal/status', { token: KEY, env });
    expect(outcome(answer)).toEqual([500, 'internal']);
    expect(outcome(await call('GET /internal/status', { env }))).toEqual([401, 'service-key-invalid']);
    const texts = JSON.stringify([answer.body, logged.mock.calls]);
    expect(texts).toContain('SERVICE_KEY_HASHES');
    expect(texts).not.toMatch(new RegExp(`${hashOf(KEY).slice(0, 8)}|${KEY}|everything`));
  }
});
