/**
 * Attack: the thief of a service key creates tokens and sessions for all signers of a token-mode
 *   vault and approves a payment.
 * Attacker: operator
 * Co-signers: 0
 * Finding: P4
 * Defence: an operator issues only the first credential of a person, and every later one requires a
 *   credential reset with a delay.
 */
import { expect, test } from 'vitest';
import { call, asService, enter } from '../../http/scene.worker.ts';
import { outcome, paymentWith, treasuryInUse } from './thief.worker.ts';

test('a service key creates no token for people who have used theirs, so no payment is approved', async () => {
  const treasury = await treasuryInUse();
  const { alice, bob, carol } = treasury;
  const answers = [];
  for (const { id } of [alice, bob, carol]) {
    answers.push(await asService(`POST /internal/user/${id}/access-token`, { name: 'stolen' }));
  }
  const stolen = answers.flatMap(({ body }) => (body['token'] === undefined ? [] : [String(body['token'])]));
  expect(await paymentWith(treasury, stolen)).toBeNull();
  expect(answers.map(outcome)).toEqual(answers.map(() => [409, 'credential-reset-required']));
});

test('a service key creates no session for people who have used their credentials', async () => {
  const { alice, bob, carol } = await treasuryInUse();
  for (const { id } of [alice, bob, carol]) {
    expect(outcome(await asService(`POST /internal/user/${id}/session`))).toEqual([409, 'credential-reset-required']);
  }
});

test('a first token whose response was lost can be replaced until the person has used it', async () => {
  const user = await asService('POST /internal/user', { name: 'Dora', email: 'dora@enrolment.example' });
  const path = `/internal/user/${user.body['id']}`;
  const state = async () => (await asService(`GET ${path}/credential-reset`)).body['enrolment'];
  expect(await state()).toBe('open');
  const lost = await asService(`POST ${path}/access-token`, { name: 'first' });
  const again = await asService(`POST ${path}/session`);
  const third = await asService(`POST ${path}/access-token`, { name: 'third' });
  expect([lost.status, again.status, third.status, await state()]).toEqual([201, 201, 201, 'issued']);
  // Only the newest credential works. Earlier ones that the thief of a key kept do not.
  expect(outcome(await call('GET /user/me', { token: lost.body['token'] }))).toEqual([401, 'token-invalid']);
  const headers = { cookie: String(again.body['cookie']).split(';')[0] ?? '' };
  expect(outcome(await call('GET /user/me', { headers }))).toEqual([401, 'session-invalid']);
  expect((await call('GET /user/me', { token: third.body['token'] })).status).toBe(200);
  const late = await asService(`POST ${path}/access-token`, { name: 'fourth' });
  expect([outcome(late), await state()]).toEqual([[409, 'credential-reset-required'], 'over']);
  expect((await call('GET /user/me', { token: third.body['token'] })).status).toBe(200);
});

test('of many simultaneous first tokens of a person one works', async () => {
  const { id } = (await asService('POST /internal/user', { name: 'Eve', email: 'eve@enrolment.example' })).body;
  const request = () => asService(`POST /internal/user/${id}/access-token`, { name: 'first' });
  const answers = await Promise.all(Array.from({ length: 8 }, request));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  const used = await Promise.all(answers.map(({ body }) => call('GET /user/me', { token: body['token'] })));
  expect(used.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('a person can rotate a token without an operator', async () => {
  const alice = await enter('alice');
  const line = `POST /personal-access-token/${alice.token.slice(12, 28)}/rotate`;
  expect((await call(line, { token: alice.token })).status).toBe(200);
});
