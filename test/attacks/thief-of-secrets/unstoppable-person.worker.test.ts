/**
 * Attack: the thief of all credentials of a person goes on while the person is absent. Only the
 *   owner can end a token, and the approvals that the thief gave stay.
 * Attacker: thief of secrets
 * Co-signers: 0
 * Finding: S1
 * Defence: an operator disables the person, or ends one credential. The objects of the credentials
 *   refuse every request before the answer, the vaults drop the approvals on what is undecided, and
 *   the history of each vault has the act.
 */
import { runInDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { parseUserId } from '#domain/id.ts';
import { personStub } from '#objects/person/stub.ts';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import {
  anotherToken,
  asService,
  call,
  coordinator,
  created,
  enter,
  foundTreasury,
  login,
} from '../../http/scene.worker.ts';

const ORIGIN = { origin: 'http://conclave.test' };
const outcome = ({ status, body }: Answer) => [status, body['code']];
const idOf = ({ token }: Person) => token.slice(12, 28);
const who = async ({ token }: Person) => outcome(await call('GET /user/me', { token }));
const bySession = async (cookie: string) => outcome(await call('GET /user/me', { headers: { cookie, ...ORIGIN } }));

async function acted(person: Person, act: string, expected: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await asService(`POST /internal/user/${person.id}/${act}`);
  expect([answer.status, answer.body]).toEqual([200, { userId: person.id, pendingVaultIds: [], ...expected }]);
}

/** Returns the actions in the vault's history, the oldest first. */
async function actions({ id, victor }: Treasury): Promise<readonly (readonly unknown[])[]> {
  const { body } = await call(`GET /vault/${id}/history`, { token: (await anotherToken(victor)).token });
  const lines: readonly Record<string, unknown>[] = body['history'];
  return lines.map(({ action, actor, detail }) => [action, actor, detail]);
}

async function approvalsOf({ victor }: Treasury, id: string): Promise<readonly string[]> {
  const { body } = await call(`GET /transaction/${id}`, { token: (await anotherToken(victor)).token });
  return body['approvals'].map(({ userId }: { userId: string }) => userId);
}

test('an operator stops every token and session of a person, and enables the tokens again', async () => {
  const owner = await enter('owner');
  const [stolen, cookie] = [await anotherToken(owner), await login(owner)];
  expect([await who(owner), await who(stolen), await bySession(cookie)].map(([status]) => status)).toEqual([
    200, 200, 200,
  ]);
  await acted(owner, 'disable', { disabled: true });
  expect([await who(owner), await who(stolen)]).toEqual([
    [401, 'token-disabled'],
    [401, 'token-disabled'],
  ]);
  expect(await bySession(cookie)).toEqual([401, 'session-invalid']);
  // A repetition changes nothing, and no credential is issued meanwhile.
  await acted(owner, 'disable', { disabled: true });
  const refused = [409, 'user-disabled'];
  expect(outcome(await asService(`POST /internal/user/${owner.id}/access-token`, { name: 'new' }))).toEqual(refused);
  expect(outcome(await asService(`POST /internal/user/${owner.id}/session`))).toEqual(refused);
  await acted(owner, 'enable', { disabled: false });
  expect([await who(owner), await who(stolen), await bySession(cookie)].map(([status]) => status)).toEqual([
    200, 200, 401,
  ]);
});

test('the owner does not end the suspension of a token', async () => {
  const owner = await enter('owner');
  const other = await anotherToken(owner);
  await acted(owner, 'disable', { disabled: true });
  const answer = await call(`PATCH /personal-access-token/${idOf(other)}`, {
    token: owner.token,
    body: { enabled: true },
  });
  expect(outcome(answer)).toEqual([401, 'token-disabled']);
  expect(await who(other)).toEqual([401, 'token-disabled']);
});

test('an operator sees the credentials of a person, and ends one of them permanently', async () => {
  const owner = await enter('owner');
  const [stolen, cookie] = [await anotherToken(owner), await login(owner)];
  await call('GET /user/me', { token: stolen.token, headers: { 'cf-connecting-ip': '198.51.100.7' } });
  const path = `/internal/user/${owner.id}/credential`;
  const { body } = await asService(`GET ${path}`);
  const listed: readonly Record<string, unknown>[] = body['data'];
  expect([body['disabled'], listed.filter(({ kind }) => kind === 'session').length, listed.length]).toEqual([
    false,
    1,
    3,
  ]);
  expect(listed.find(({ id }) => id === idOf(stolen))).toMatchObject({ lastUsedAddress: '198.51.100.7' });
  for (const id of [idOf(stolen), String(listed.find(({ kind }) => kind === 'session')?.['id'])]) {
    expect((await asService(`DELETE ${path}/${id}`)).status).toBe(200);
  }
  expect([await who(stolen), await bySession(cookie), (await who(owner))[0]]).toEqual([
    [401, 'token-invalid'],
    [401, 'session-invalid'],
    200,
  ]);
  expect(outcome(await asService(`DELETE ${path}/${idOf(stolen)}`))).toEqual([404, 'credential-not-found']);
  const other = await enter('other');
  expect(outcome(await asService(`DELETE ${path}/${idOf(other)}`))).toEqual([404, 'credential-not-found']);
  await acted(owner, 'enable', { disabled: false });
  expect(await who(stolen)).toEqual([401, 'token-invalid']);
});

test('approvals and a proposal of a disabled person stop counting, and the history has the acts', async () => {
  const treasury = await foundTreasury();
  const { alice, bob, carol, id: vaultId } = treasury;
  await asService(`GET /internal/vault/${vaultId}`);
  const payment = String((await created(treasury)).body['id']);
  const { body: change } = await asService(`POST /internal/vault/${vaultId}/policy-change`, { threshold: 1 });
  const decide = async (person: Person, line: string) => {
    const { token } = await anotherToken(person);
    return (await call(`POST ${line}/approve`, { token })).status;
  };
  const changeLine = `/vault/${vaultId}/policy-change/${change['id']}`;
  expect([await decide(bob, `/transaction/${payment}`), await decide(bob, changeLine)]).toEqual([200, 200]);
  expect(await approvalsOf(treasury, payment)).toEqual([bob.id]);
  await acted(bob, 'disable', { disabled: true });
  expect(await approvalsOf(treasury, payment)).toEqual([]);
  expect(await decide(alice, `/transaction/${payment}`)).toBe(200);
  expect(await approvalsOf(treasury, payment)).toEqual([alice.id]);
  expect((await call(`GET /transaction/${payment}`, { token: carol.token })).body['state']).toBe('SUBMITTED');
  const read = await call(`GET ${changeLine}`, { token: carol.token });
  expect([read.body['state'], read.body['approvals']]).toEqual(['PENDING', []]);
  await acted(bob, 'enable', { disabled: false });
  expect(await approvalsOf(treasury, payment)).toEqual([alice.id]);
  // Only a new approval counts.
  expect(await decide(bob, `/transaction/${payment}`)).toBe(200);
  expect((await call(`GET /transaction/${payment}`, { token: carol.token })).body['state']).toBe('SIGNING');
  const acts = (await actions(treasury)).filter(([action]) => String(action).endsWith('-user'));
  const detail = JSON.stringify({ userId: bob.id, serviceKey: 'KEY' });
  expect(
    acts.map(([action, actor, text]) => [action, actor, String(text).replace(/[0-9a-f]{8}"\}$/, 'KEY"}')]),
  ).toEqual([
    ['disable-user', null, detail],
    ['enable-user', null, detail],
  ]);
});

test('approvals that an ended token carried stop counting, and those of another token stay', async () => {
  const treasury = await foundTreasury();
  await asService(`GET /internal/vault/${treasury.id}`);
  const { bob } = treasury;
  const [first, second] = [await created(treasury), await created(treasury)];
  const [stolen, own] = [await anotherToken(bob), await anotherToken(bob)];
  for (const [{ body }, { token }] of [
    [first, stolen],
    [second, own],
  ] as const) {
    expect((await call(`POST /transaction/${body['id']}/approve`, { token })).status).toBe(200);
  }
  expect((await asService(`DELETE /internal/user/${bob.id}/credential/${idOf(stolen)}`)).status).toBe(200);
  expect(await approvalsOf(treasury, String(first.body['id']))).toEqual([]);
  expect(await approvalsOf(treasury, String(second.body['id']))).toEqual([bob.id]);
});

test('no request that begins after the answer passes, and no credential that is made meanwhile works', async () => {
  const owner = await enter('owner');
  const tokens = await Promise.all(Array.from({ length: 20 }, () => anotherToken(owner)));
  const sessions = await Promise.all(Array.from({ length: 6 }, () => login(owner)));
  const make = async (cookie: string) =>
    call('POST /session/access-token', { headers: { cookie, ...ORIGIN }, body: { name: 'meanwhile' } });
  const making = sessions.map((cookie) => make(cookie));
  const reading = tokens.map((token) => who(token));
  await acted(owner, 'disable', { disabled: true });
  const late = await Promise.all([
    ...tokens.map((token) => who(token)),
    ...sessions.map((cookie) => bySession(cookie)),
  ]);
  expect(late.map(([status]) => status)).toEqual(late.map(() => 401));
  const made = await Promise.all(making);
  await Promise.all(reading);
  for (const { status, body } of made) {
    if (status !== 201) expect([401, 409]).toContain(status);
    else expect(await who({ id: owner.id, token: body['token'] })).toEqual([401, 'token-disabled']);
  }
});

test('a vault that does not answer delays nothing, and records the act as soon as it answers', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const treasury = await foundTreasury();
  await asService(`GET /internal/vault/${treasury.id}`);
  const { bob, id } = treasury;
  const userId = parseUserId(bob.id);
  if (userId === null) throw new Error('a person has an id');
  const person = personStub(coordinator, userId);
  const payment = String((await created(treasury)).body['id']);
  expect((await call(`POST /transaction/${payment}/approve`, { token: bob.token })).status).toBe(200);
  const vault = coordinator.VAULT.getByName(`vault:${id}`);
  const run = (statement: string) =>
    runInDurableObject(vault, (_vault, { storage }) => void storage.sql.exec(statement));
  await run("CREATE TRIGGER full BEFORE INSERT ON history BEGIN SELECT RAISE (ABORT, 'the storage is full'); END");
  await acted(bob, 'disable', { disabled: true, pendingVaultIds: [id] });
  expect(await who(bob)).toEqual([401, 'token-disabled']);
  await run('DROP TRIGGER full');
  expect(await approvalsOf(treasury, payment)).toEqual([bob.id]);
  await runInDurableObject(person, (object) => object.alarm?.());
  expect(await approvalsOf(treasury, payment)).toEqual([]);
  expect((await actions(treasury)).filter(([action]) => action === 'disable-user')).toHaveLength(1);
  logged.mockRestore();
});

test('of a thousand requests around the stop of a person, none that begins after the answer succeeds', async () => {
  const owner = await enter('owner');
  // A token has 300 reads of the profile a minute.
  const tokens = await Promise.all(Array.from({ length: 4 }, () => anotherToken(owner)));
  let isStopped = false;
  const late: number[] = [];
  const statuses: number[] = [];
  const flood = (count: number) =>
    Array.from({ length: count }, async (_, i) => {
      const beginsLate = isStopped;
      const { status } = await call('GET /user/me', { token: tokens[i % tokens.length]?.token ?? '' });
      statuses.push(status);
      if (beginsLate) late.push(status);
    });
  const before = flood(500);
  const stop = acted(owner, 'disable', { disabled: true }).then(() => void (isStopped = true));
  const during = flood(250);
  await stop;
  const after = flood(250);
  await Promise.all([...before, ...during, ...after]);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
  // The address of so many refused requests is limited.
  expect([late.length, late.filter((status) => status !== 401 && status !== 429)]).toEqual([250, []]);
});
