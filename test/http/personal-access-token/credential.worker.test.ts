import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ROUTES } from '#http/routes.ts';
import type { Answer, Person, RequestOptions } from '../scene.worker.ts';
import { anotherToken, call as callFrom, asService, coordinator, enter } from '../scene.worker.ts';

/**
 * Covers authentication at every endpoint. The test reads the table of routes, so a new route is
 * covered too.
 */

afterEach(() => {
  vi.useRealTimers();
});

/**
 * Sends each route from an address of its own, because addresses with too many failures are
 * blocked.
 */
function request(line: string, options: RequestOptions = {}): Promise<Answer> {
  const position = ROUTES.map(lineOf).indexOf(line) + 1;
  return callFrom(line, { ...options, headers: { 'cf-connecting-ip': `192.0.2.${position}`, ...options.headers } });
}

/** Returns a request line that the route accepts from a permitted caller. */
function lineOf({ method, path }: { readonly method: string; readonly path: string }): string {
  const filled = path
    .replace(':txId', '1.01J00000000000000000000000')
    .replace(':vaultId', '1')
    .replace(':chain', 'base')
    .replace(':changeId', 'pch_01J00000000000000000000000')
    .replace(':resetId', 'crs_01J00000000000000000000000')
    .replace(':id', 'A'.repeat(16))
    .replace(':userId', 'usr_01J00000000000000000000000');
  return `${method} ${filled}`;
}

const OTHERS: readonly string[] = ['anyone', 'service', 'monitor'];
const withToken = ROUTES.filter(({ access }) => !OTHERS.includes(access));
const internal = ROUTES.filter(({ access }) => access === 'service');

function flipped(token: string, position: number): string {
  const other = token.at(position) === 'A' ? 'B' : 'A';
  const at = position < 0 ? token.length + position : position;
  return token.slice(0, at) + other + token.slice(at + 1);
}

let trent: Person;
/** A token of trent that was deleted. */
let deleted: Person;
beforeAll(async () => {
  trent = await enter('trent');
  deleted = await anotherToken(trent);
  const line = `DELETE /personal-access-token/${deleted.token.slice(12, 28)}`;
  expect((await callFrom(line, { token: trent.token })).status).toBe(204);
});

describe.each(withToken.map(lineOf))('%s', (line) => {
  const code = ({ status, body }: Answer) => [status, body['code']];

  test('the route requires a token that this service has issued', async () => {
    const { token } = trent;
    expect(code(await request(line))).toEqual([401, 'token-missing']);
    const wrong = [
      'service_pat_',
      'hello',
      '%00',
      token.slice(0, -1),
      `${token}0`,
      token.toUpperCase(),
      flipped(token, -1),
      flipped(token, 20),
      flipped(token, 40),
      coordinator.TEST_SERVICE_KEY,
      'x'.repeat(5000),
    ];
    for (const value of wrong)
      expect([value, ...code(await request(line, { token: value }))]).toEqual([value, 401, 'token-invalid']);
    for (const header of [token, `Basic ${token}`, `Bearer`, `Bearer ${token} x`, `Bearer, ${token}`]) {
      expect([header, (await request(line, { headers: { authorization: header } })).status]).toEqual([header, 401]);
    }
    const cookie = await request(line, { headers: { cookie: `session=${token}` } });
    expect(code(cookie)).toEqual([401, 'token-missing']);
  });

  test('a 401 response contains the header and the problem that a client needs', async () => {
    const missing = await request(line);
    expect(missing.headers.get('www-authenticate')).toBe('Bearer');
    const invalid = await request(line, { token: 'hello' });
    expect(invalid.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    expect(invalid.headers.get('content-type')).toBe('application/problem+json');
    expect(invalid.body).toMatchObject({ status: 401, title: expect.any(String), requestId: expect.any(String) });
  });

  test('the route refuses a token that has expired, was disabled or was deleted', async () => {
    const soon = Math.floor(Date.now() / 1000) + 60;
    const { token } = await anotherToken(trent, soon);
    vi.useFakeTimers({ toFake: ['Date'], now: (soon + 1) * 1000 });
    expect(code(await request(line, { token }))).toEqual([401, 'token-expired']);
    // An expired token is disabled from then on (spec part 5 rule 5), even if the clock is set
    // back.
    vi.useRealTimers();
    expect(code(await request(line, { token }))).toEqual([401, 'token-disabled']);
    expect(code(await request(line, { token: deleted.token }))).toEqual([401, 'token-invalid']);
  });
});

describe.each(internal.map(lineOf))('%s', (line) => {
  test('the route opens only to a service key', async () => {
    const { token } = trent;
    const { TEST_SERVICE_KEY: key } = coordinator;
    for (const wrong of [null, token, '', 'service_key_', `${key}0`, key.slice(0, -1)]) {
      const answer = await request(line, { token: wrong });
      expect([wrong, answer.status, answer.body['code']]).toEqual([wrong, 401, 'service-key-invalid']);
    }
    expect((await asService(line)).status).not.toBe(401);
  });
});

test('only the health checks, the login and the cancellation by a device need no credential', async () => {
  const open = ROUTES.filter(({ access }) => access === 'anyone').map(lineOf);
  // test/attacks/operator/credential-reset-cancelled.worker.test.ts covers this route, which
  // requires a device signature.
  const byDevice = 'POST /vault/1/credential-reset/crs_01J00000000000000000000000/cancel-by-device';
  expect(open.toSorted()).toEqual(['GET /health', 'GET /health/ready', 'GET /login', 'GET /login/callback', byDevice]);
  for (const line of ['GET /login', 'GET /login/callback?code=c&state=s']) {
    const { status, body } = await request(line);
    expect([status, body['code']]).toEqual([409, 'login-not-configured']);
  }
  const { status, body } = await request('GET /health');
  expect([status, body]).toEqual([200, { status: 'ok' }]);
});

test('a caller gets the caller’s own profile', async () => {
  const [alice, bob] = [await enter('alice'), await enter('bob')];
  const hers = await request('GET /user/me', { token: alice.token });
  const his = await request('GET /user/me', { token: bob.token });
  expect([hers.status, hers.body['id'], hers.body['name']]).toEqual([200, alice.id, 'alice']);
  expect([his.body['id'], his.body['name']]).toEqual([bob.id, 'bob']);
});

test('requests with tokens that do not exist create no objects and store nothing', async () => {
  const { token } = await enter('trent');
  await request('GET /user/me', { token: flipped(token, 20) });
  const { results } = await coordinator.DB.prepare('SELECT id FROM access_tokens WHERE id = ?')
    .bind(flipped(token, 20).slice(12, 28))
    .all();
  expect(results).toEqual([]);
});
