import { beforeAll, expect, test } from 'vitest';
import type { Route } from '#http/edge/route.ts';
import { bodies } from '../../fuzz/bodies.ts';
import type { Promises } from '../../worker/main.ts';
import type { Treasury } from '../scene.worker.ts';
import {
  REQUIRED_QUERIES,
  anotherToken,
  call,
  coordinator,
  foundTreasury,
  login,
  unknownPath,
} from '../scene.worker.ts';

/**
 * Covers the order of the refusals of every route. Each request has all faults that the ones before
 * it had, but the first. The codes of the responses must follow each other in the declaration of
 * the route, from the credential to what does not exist.
 */

let routes: readonly Route[];
let declared: (route: Route) => readonly string[];
let treasury: Treasury;

beforeAll(async () => {
  treasury = await foundTreasury();
  const { ROUTES, commonRefusals } = (globalThis as unknown as { promises: Promises }).promises;
  routes = ROUTES.filter(({ access }) => access !== 'monitor');
  declared = (route) => [...commonRefusals(route), ...route.refuses];
});

const MALFORMED = '-';

const TOO_LARGE = `{${' '.repeat(70_000)}`;
const PLAIN = { 'content-type': 'text/plain' };

type Credential = 'none' | 'token' | 'own' | 'member';
/** A request: its credential, its path and the rest. */
type Attempt = readonly [Credential, path: string, rest?: { readonly raw?: string; readonly headers?: object }];

/** Returns a new credential, because a token and a session have few requests of some kinds. */
async function credentialOf({ access, sessionOnly }: Route, kind: Credential) {
  if (kind === 'none' || access === 'anyone') return {};
  if (kind === 'member') return { token: (await anotherToken(treasury.alice)).token };
  if (kind === 'own' && access === 'service') return { token: coordinator.TEST_SERVICE_KEY };
  if (kind === 'own' && sessionOnly === true) {
    return { headers: { cookie: await login(treasury.mallory), origin: 'http://conclave.test' } };
  }
  return { token: (await anotherToken(treasury.mallory)).token };
}

/** Returns the requests to a route, from the one with the most faults to one that may succeed. */
function attemptsAt(route: Route): readonly Attempt[] {
  const { method, path, access, sessionOnly, body, refuses } = route;
  const isRead = method === 'GET';
  const malformed = path.replaceAll(/:[A-Za-z]+/g, MALFORMED);
  const withQuery = `${malformed}${route.query === undefined ? '' : '?unknown=1'}`;
  const valid = bodies(() => 0, { vaultId: treasury.id, strangeVaultId: treasury.id })[path];
  const isSendable = access !== 'service' && sessionOnly !== true && (body === undefined || valid !== undefined);
  const found = `${unknownPath(treasury, route)}${REQUIRED_QUERIES[`${method} ${path}`] ?? ''}`;
  const sent = body === undefined ? {} : { raw: JSON.stringify(valid) };
  return [
    ...(access === 'anyone' ? [] : [['none', withQuery, isRead ? {} : { raw: TOO_LARGE }] as const]),
    ...(sessionOnly === true ? [['token', withQuery, isRead ? {} : { raw: TOO_LARGE }] as const] : []),
    ...(isRead ? [['own', withQuery] as const] : [['own', malformed, { raw: TOO_LARGE, headers: PLAIN }] as const]),
    ...((body ?? route.optionalBody) === undefined
      ? []
      : ([
          ['own', malformed, { raw: '{', headers: PLAIN }],
          ['own', malformed, { raw: '{' }],
        ] as const)),
    ...(isRead ? [] : [['own', malformed, { raw: '{"unknown":1}' }] as const]),
    ...(isSendable && refuses.length > 0
      ? ([
          ['own', found, sent],
          ['member', found, sent],
        ] as const)
      : []),
  ];
}

/** Returns the codes of the refusals, in the order of the requests. */
async function codesOf(route: Route, number: number): Promise<readonly string[]> {
  const codes: string[] = [];
  for (const [kind, path, { raw, headers } = {}] of attemptsAt(route)) {
    const credential = await credentialOf(route, kind);
    const address = { 'cf-connecting-ip': `2001:db8:${number.toString(16)}::1` };
    const { status, body } = await call(`${route.method} ${path}`, {
      ...credential,
      ...(raw === undefined ? {} : { raw }),
      headers: { ...address, ...('headers' in credential ? credential.headers : {}), ...headers },
    });
    if (status >= 400) codes.push(body['code']);
  }
  return codes;
}

test('each route refuses in the order that it declares', async () => {
  let refused = 0;
  for (const [i, route] of routes.entries()) {
    const [codes, order] = [await codesOf(route, i), declared(route)];
    const inOrder = codes.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
    expect([route.method, route.path, codes]).toEqual([route.method, route.path, inOrder]);
    expect(codes.filter((code) => !order.includes(code))).toEqual([]);
    refused += codes.length;
  }
  expect(refused).toBeGreaterThan(400);
});
