/**
 * Attack: the thief of one access token becomes the person without end. The token gives itself a
 *   later end through another token, takes over the other tokens with new values, deletes them, and
 *   rotates with the value that the owner has replaced.
 * Attacker: thief of secrets
 * Co-signers: 0
 * Finding: S1
 * Defence: a token manages only tokens with no later end and no more access than its own, and only
 *   with the scope `manage-tokens`. The value before a rotation manages nothing.
 */
import { expect, test } from 'vitest';
import type { Answer, Person } from '../../http/scene.worker.ts';
import { anotherToken, call, enter, login } from '../../http/scene.worker.ts';

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;
const path = ({ token }: Person) => `/personal-access-token/${token.slice(12, 28)}`;
const outcome = ({ status, body }: Answer) => [status, body['code']];
const works = async ({ token }: Pick<Person, 'token'>) => (await call('GET /user/me', { token })).status === 200;

/** A token of one hour is stolen from a person who has another token without an end. */
async function theft() {
  const owner = await enter('owner');
  return { owner, stolen: await anotherToken(owner, inAnHour()) };
}

test('a stolen token neither takes over nor ends a token that outlives it', async () => {
  const { owner, stolen } = await theft();
  const { token } = stolen;
  const beyond = [403, 'access-token-beyond-own'];
  expect(outcome(await call(`POST ${path(owner)}/rotate`, { token }))).toEqual(beyond);
  expect(outcome(await call(`PATCH ${path(owner)}`, { token, body: { enabled: false } }))).toEqual(beyond);
  expect(outcome(await call(`DELETE ${path(owner)}`, { token }))).toEqual(beyond);
  expect(await works(owner)).toBe(true);
});

test('a stolen token does not prolong itself through another token', async () => {
  const { owner, stolen } = await theft();
  const sibling = await anotherToken(owner, inAnHour());
  const body = { expiresAt: null };
  const extended = await call(`PATCH ${path(sibling)}`, { token: stolen.token, body });
  expect(outcome(extended)).toEqual([403, 'access-token-beyond-own']);
  expect(outcome(await call(`PATCH ${path(stolen)}`, { token: stolen.token, body }))).toEqual([
    403,
    'access-token-own-expiry',
  ]);
});

test('the leaked value that a rotation replaced takes nothing back', async () => {
  const leaked = await enter('owner');
  const other = await anotherToken(leaked);
  const rotated = await call(`POST ${path(leaked)}/rotate`, { token: other.token });
  const current = { token: String(rotated.body['token']) };
  const superseded = [403, 'access-token-superseded'];
  const { token } = leaked;
  for (const target of [leaked, other]) {
    expect(outcome(await call(`POST ${path(target)}/rotate`, { token }))).toEqual(superseded);
    expect(outcome(await call(`PATCH ${path(target)}`, { token, body: { name: 'mine' } }))).toEqual(superseded);
  }
  const elsewhere = { token, headers: { 'idempotency-key': 'x'.repeat(32) } };
  expect(outcome(await call(`POST ${path(leaked)}/rotate`, elsewhere))).toEqual(superseded);
  expect([await works(current), await works(leaked), await works(other)]).toEqual([true, true, true]);
});

test('a token without the scope manages only itself', async () => {
  const owner = await enter('owner');
  const narrow = await anotherToken(owner, null, { scopes: ['read', 'create', 'approve'] });
  const equal = await anotherToken(owner, null, { scopes: ['read'] });
  const { token } = narrow;
  const refused = await call(`DELETE ${path(equal)}`, { token });
  expect([...outcome(refused), refused.body['scope']]).toEqual([403, 'insufficient-scope', 'manage-tokens']);
  const rotated = await call(`POST ${path(narrow)}/rotate`, { token });
  expect(rotated.status).toBe(200);
  expect((await call(`DELETE ${path(narrow)}`, { token: rotated.body['token'] })).status).toBe(204);
  expect([await works(owner), await works(equal), await works(narrow)]).toEqual([true, true, false]);
});

test('a session of the owner ends what no token may end', async () => {
  const { owner, stolen } = await theft();
  const headers = { cookie: await login(owner), origin: 'http://conclave.test' };
  for (const person of [stolen, owner]) expect((await call(`DELETE ${path(person)}`, { headers })).status).toBe(204);
  expect([await works(owner), await works(stolen)]).toEqual([false, false]);
});

test('tokens that are made at the same time do not pass the limit of fifty', async () => {
  const owner = await enter('owner');
  for (let i = 1; i < 47; i++) await anotherToken(owner);
  const sessions = await Promise.all(Array.from({ length: 9 }, () => login(owner)));
  const made = await Promise.all(
    sessions.map((cookie) =>
      call('POST /session/access-token', {
        headers: { cookie, origin: 'http://conclave.test' },
        body: { name: 'one of many' },
      }),
    ),
  );
  expect(made.filter(({ status }) => status === 201)).toHaveLength(3);
  expect(made.filter(({ body }) => body['code'] === 'too-many-access-tokens')).toHaveLength(6);
  const listed = await call('GET /personal-access-token', { token: owner.token });
  expect(listed.body['tokens']).toHaveLength(50);
});
