/**
 * Attack: the thief of a session makes an access token with it, which survives when the owner logs
 *   out everywhere.
 * Attacker: thief of secrets
 * Co-signers: 0
 * Finding: S1
 * Defence: on request, a logout of all sessions deletes the tokens that were made in them. A token
 *   whose session ends while the token is made is not made.
 */
import { expect, test } from 'vitest';
import { WHOLE_GRANT } from '#domain/access/token-grant.ts';
import { parseTokenId } from '#domain/id.ts';
import { personStub } from '#objects/person/stub.ts';
import { findUser } from '#store/users.ts';
import { call, coordinator, enter, login } from '../../http/scene.worker.ts';

const by = (cookie: string) => ({ headers: { cookie, origin: 'http://conclave.test' } });
const made = (cookie: string) => call('POST /session/access-token', { ...by(cookie), body: { name: 'mine' } });
const status = async (token: string) => (await call('GET /user/me', { token })).status;

test('a logout of all sessions deletes the tokens of a stolen session on request', async () => {
  const owner = await enter('owner');
  const [stolen, own] = [await login(owner), await login(owner)];
  const token = String((await made(stolen)).body['token']);
  const logout = (query: string) => call(`DELETE /sessions${query}`, by(own));
  expect((await logout('?accessTokens=all')).status).toBe(400);
  expect(await status(token)).toBe(200);
  expect((await logout('?accessTokens=end')).status).toBe(204);
  expect([await status(token), await status(owner.token)]).toEqual([401, 200]);
  const listed = await call('GET /personal-access-token', { token: owner.token });
  expect(listed.body['tokens']).toHaveLength(1);
});

test('tokens stay without the request', async () => {
  const owner = await enter('owner');
  const cookie = await login(owner);
  const token = String((await made(cookie)).body['token']);
  expect((await call('DELETE /sessions', by(cookie))).status).toBe(204);
  expect(await status(token)).toBe(200);
});

test('a token that is made during the logout does not survive it', async () => {
  const owner = await enter('owner');
  const sessions = await Promise.all(Array.from({ length: 6 }, () => login(owner)));
  const own = await login(owner);
  const making = sessions.map((cookie) => made(cookie));
  expect((await call('DELETE /sessions?accessTokens=end', by(own))).status).toBe(204);
  for (const answer of await Promise.all(making)) {
    if (answer.status === 201) expect(await status(String(answer.body['token']))).toBe(401);
    else expect(answer.status).toBe(401);
  }
});

test('no token is made for a session that has ended, nor for a disabled person', async () => {
  const owner = await enter('owner');
  const [user, id, other] = [
    await findUser(coordinator.DB, owner.id),
    parseTokenId('session000000000'),
    parseTokenId('token00000000000'),
  ];
  if (user === null || id === null || other === null) throw new Error('the user is in the directory');
  const person = personStub(coordinator, user.id);
  const secretHash = '0'.repeat(64);
  expect((await person.logIn({ id, user, secretHash })).ok).toBe(true);
  await person.endSessions({ userId: user.id, sessionId: id }, false);
  const token = { id: other, user, name: 'late', expiresAt: null, secretHash, madeIn: id, ...WHOLE_GRANT };
  expect(await person.issueOwnToken(token)).toEqual({ ok: false, refusal: { code: 'session-invalid' } });
  await person.actOnAccess(user.id, { kind: 'disable-user' }, '01234567');
  const refused = { ok: false, refusal: { code: 'user-disabled' } };
  expect(await person.issueOwnToken(token)).toEqual(refused);
  expect(await person.logIn({ id: other, user, secretHash })).toEqual(refused);
});
