/**
 * Attack: the thief of a service key pretends that a person never had a credential, and enrols
 *   the person again.
 * Attacker: operator
 * Co-signers: 0
 * Finding: P4
 * Defence: the object of the person stores the first use permanently; a person without an object
 *   counts as enrolled.
 */
import { afterEach, expect, test, vi } from 'vitest';
import type { UserId } from '#domain/id.ts';
import { newUserId, parseTokenId, parseUserId } from '#domain/id.ts';
import { personStub } from '#objects/person/stub.ts';
import { userOfIdentity } from '#store/identities.ts';
import { findUser, insertUser } from '#store/users.ts';
import { call, asService, coordinator, enter } from '../../http/scene.worker.ts';
import type { Person } from '../../http/scene.worker.ts';
import { collected, DAY_MS, later, outcome, requested } from './thief.worker.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Begins a session, as the callback of a login does. */
async function logIn(userId: UserId): Promise<void> {
  const [id, user] = [parseTokenId('session000000000'), await findUser(coordinator.DB, userId)];
  if (id === null || user === null) throw new Error('the user is in the directory');
  await personStub(coordinator, userId).logIn({ id, user, secretHash: '0'.repeat(64) });
}

async function minted({ id }: Pick<Person, 'id'>) {
  const answers = [
    await asService(`POST /internal/user/${id}/access-token`, { name: 'stolen' }),
    await asService(`POST /internal/user/${id}/session`),
  ];
  return answers.map(outcome);
}

const REFUSED = [
  [409, 'credential-reset-required'],
  [409, 'credential-reset-required'],
];

test('a person whose only token was deleted or has expired still counts as enrolled', async () => {
  const soon = Math.floor(Date.now() / 1000) + 60;
  const [deleted, expired] = [await enter('alice'), await enter('bob', { expiresAt: soon })];
  for (const { token } of [deleted, expired]) expect((await call('GET /user/me', { token })).status).toBe(200);
  await call(`DELETE /personal-access-token/${deleted.token.slice(12, 28)}`, { token: deleted.token });
  later(120_000);
  expect(outcome(await call('GET /user/me', { token: expired.token }))).toEqual([401, 'token-expired']);
  expect([await minted(deleted), await minted(expired)]).toEqual([REFUSED, REFUSED]);
});

test('a repeated creation of the person, or the loss of the directory, does not reopen the enrolment', async () => {
  const alice = await enter('alice');
  const { body } = await call('GET /user/me', { token: alice.token });
  const again = await asService('POST /internal/user', { name: 'Alice', email: body['email'] });
  expect([again.status, again.body['id']]).toEqual([200, alice.id]);
  for (const table of ['access_tokens', 'sessions', 'identities']) {
    await coordinator.DB.prepare(`DELETE FROM ${table} WHERE user_id = ?`).bind(alice.id).run();
  }
  expect(await minted(alice)).toEqual(REFUSED);
});

test('an operator gets no first token for a person who was created before enrolments were recorded', async () => {
  const id = newUserId(Date.now(), crypto.getRandomValues(new Uint8Array(10)));
  await insertUser(coordinator.DB, { id, name: 'Old', email: 'old@enrolment.example', createdAtMs: 1 });
  expect(await minted({ id })).toEqual(REFUSED);
});

test('a credential that the thief kept from before the first login stops working at the login', async () => {
  const frank = await enter('frank');
  const id = parseUserId(frank.id);
  if (id === null) throw new Error('a person has an id');
  await logIn(id);
  expect(outcome(await call('GET /user/me', { token: frank.token }))).toEqual([401, 'token-invalid']);
  expect(await minted(frank)).toEqual(REFUSED);
});

test('an operator can unlink an identity only once, after the delay of a reset', async () => {
  const email = 'grace@enrolment.example';
  const user = await asService('POST /internal/user', { name: 'Grace', email });
  const grace = { id: String(user.body['id']), token: '' };
  const id = parseUserId(grace.id);
  if (id === null) throw new Error('a person has an id');
  const known = (subject: string) =>
    userOfIdentity(coordinator.DB, { issuer: 'https://issuer.example', subject, verifiedEmail: email }, Date.now());
  expect((await known('g-1'))?.id).toBe(id);
  await logIn(id);
  expect((await asService(`DELETE /internal/user/${id}/identity`)).status).toBe(404);
  const resetId = await requested(grace);
  const early = await collected(grace, resetId);
  expect(early.map(outcome)).toEqual(early.map(() => [409, 'credential-reset-not-ready']));
  expect(await known('g-2')).toBeNull();
  later(DAY_MS + 60_000);
  const path = `/internal/user/${id}/credential-reset/${resetId}/identity`;
  expect((await asService(`POST ${path}`)).status).toBe(204);
  expect((await known('g-2'))?.id).toBe(id);
  const again = await collected(grace, resetId);
  expect(again.map(outcome)).toEqual(again.map(() => [409, 'credential-reset-not-pending']));
  expect((await known('g-2'))?.id).toBe(id);
  expect(await known('g-1')).toBeNull();
});
