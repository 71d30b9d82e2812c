import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { parseKeyId } from '#domain/id.ts';
import { addDeadLetter } from '#store/operations/dead-letters.ts';
import {
  accept,
  anotherToken,
  call,
  asService,
  coordinator,
  enter,
  foundTreasury,
  login,
  RECIPIENT,
  WALLET,
} from '../scene.worker.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';

/** Covers what operators can do with a service key. */

test('two creations with one e-mail address give one person', async () => {
  const first = await asService('POST /internal/user', { name: 'Alice', email: 'Alice@Example.com' });
  const second = await asService('POST /internal/user', { name: 'Alice again', email: 'alice@example.com' });
  expect([first.status, second.status]).toEqual([201, 200]);
  expect(second.body).toEqual({ id: first.body['id'], name: 'Alice', email: 'alice@example.com' });
});

test.each([
  [{}, '/name'],
  [{ name: '', email: 'a@example.com' }, '/name'],
  [{ name: '   ', email: 'a@example.com' }, '/name'],
  [{ name: 'A\u202E', email: 'a@example.com' }, '/name'],
  [{ name: 'A'.repeat(101), email: 'a@example.com' }, '/name'],
  [{ name: 'A', email: 'nobody' }, '/email'],
  [{ name: 'A', email: `${'a'.repeat(250)}@example.com` }, '/email'],
  [{ name: 'A', email: 'a@example.com', admin: true }, '/admin'],
])('the invalid person %j is refused', async (body, pointer) => {
  const answer = await asService('POST /internal/user', body);
  expect([answer.status, answer.body['errors'][0].pointer]).toEqual([400, pointer]);
});

test('the value of a token is in the response and stored nowhere', async () => {
  const trent = await enter('trent');
  expect(trent.token).toMatch(/^service_pat_[0-9A-Za-z]{55}$/);
  const secret = trent.token.slice(28, 60);
  const tables = ['users', 'access_tokens', 'audit', 'dead_letters'];
  for (const table of tables) {
    const { results } = await coordinator.DB.prepare(`SELECT * FROM ${table}`).all();
    expect(JSON.stringify(results)).not.toContain(secret);
  }
  const stub = coordinator.ACCESS_TOKEN.getByName(`token:${trent.token.slice(12, 28)}`);
  const record = await runInDurableObject(stub, (_instance, { storage }) =>
    storage.sql.exec('SELECT * FROM token').one(),
  );
  expect(JSON.stringify(record)).toContain('script');
  expect(JSON.stringify(record)).not.toContain(secret);
});

test.each([
  [{}, '/name'],
  [{ name: 'x', expiresAt: 0 }, '/expiresAt'],
  [{ name: 'x', expiresAt: 1.5 }, '/expiresAt'],
  [{ name: 'x', expiresAt: '2030' }, '/expiresAt'],
])('the invalid token %j is refused', async (body, pointer) => {
  const trent = await enter('trent');
  const answer = await asService(`POST /internal/user/${trent.id}/access-token`, body);
  expect([answer.status, answer.body['errors'][0].pointer]).toEqual([400, pointer]);
});

test('a person has fifty tokens at most, and can create another one after a deletion', async () => {
  const trent = await enter('trent');
  const issued = await Promise.all(Array.from({ length: 49 }, () => anotherToken(trent)));
  const headers = { cookie: await login(trent), origin: 'http://conclave.test' };
  const issue = () => call('POST /session/access-token', { headers, body: { name: 'x' } });
  const refused = await issue();
  expect([refused.status, refused.body['code']]).toEqual([409, 'too-many-access-tokens']);
  await call(`DELETE /personal-access-token/${issued[0]?.token.slice(12, 28)}`, { token: trent.token });
  expect((await issue()).status).toBe(201);
});

test('a token for a person who does not exist is refused', async () => {
  for (const id of ['usr_01J00000000000000000000000', 'nobody', '%27%20OR%201=1']) {
    const answer = await asService(`POST /internal/user/${id}/access-token`, { name: 'x' });
    expect([id, answer.status, answer.body['code']]).toEqual([id, 404, 'user-not-found']);
  }
});

test('two creations with one reference give one vault', async () => {
  const trent = await enter('trent');
  const body = {
    name: 'Treasury',
    reference: 'acme/treasury',
    members: [{ userId: trent.id, roles: ['signer'] }],
    threshold: 1,
    approvalMode: 'token',
    initialState: 'SUBMITTED',
    chains: ['anvil'],
  };
  const [first, second] = [
    await asService('POST /internal/vault', body),
    await asService('POST /internal/vault', body),
  ];
  expect([first.status, second.status, second.body['id']]).toEqual([201, 201, first.body['id']]);
  expect(first.body['wallets']).toEqual([{ chain: 'anvil', address: null }]);
});

test('an invalid vault is refused with the pointer to the invalid field', async () => {
  const [trent, oscar] = [await enter('trent'), await enter('oscar')];
  const signer = { userId: trent.id, roles: ['signer'] };
  const good = {
    name: 'V',
    members: [signer],
    threshold: 1,
    approvalMode: 'token',
    initialState: 'DRAFT',
    chains: ['anvil'],
  };
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ name: '' }, '/name'],
    [{ members: [] }, '/members'],
    [{ members: [{ userId: trent.id, roles: ['viewer'] }] }, '/threshold'],
    [{ members: [signer, signer] }, '/members'],
    [{ members: [signer, { userId: 'usr_01J00000000000000000000000', roles: ['viewer'] }] }, '/members/1/userId'],
    [{ members: [{ userId: trent.id, roles: ['king'] }] }, '/members/0/roles/0'],
    [{ members: [{ userId: trent.id, roles: [] }] }, '/members/0/roles'],
    [{ threshold: 0 }, '/threshold'],
    [{ threshold: 2 }, '/threshold'],
    [{ threshold: 1.5 }, '/threshold'],
    [{ members: [signer, { userId: oscar.id, roles: ['viewer'] }], threshold: 2 }, '/threshold'],
    [{ approvalMode: undefined }, '/approvalMode'],
    [{ approvalMode: 'nobody' }, '/approvalMode'],
    [{ initialState: 'SIGNING' }, '/initialState'],
    [{ chains: [] }, '/chains'],
    [{ chains: ['anvil', 'atlantis'] }, '/chains/1'],
    [{ decisionPeriodSeconds: 59 }, '/decisionPeriodSeconds'],
    [{ mostPending: 0 }, '/mostPending'],
    [{ signingThreshold: 1 }, '/signingThreshold'],
    [{ signingThreshold: 4 }, '/signingThreshold'],
    [{ rules: { limits: [{ chain: 'anvil', perDay: '-1' }] } }, '/rules/limits/0/perDay'],
    [{ rules: { limits: [{ chain: 'anvil' }] } }, '/limits'],
    [{ rules: { unreadableThreshold: 2 } }, '/higherThresholds'],
    [{ key: 'mine' }, '/key'],
  ];
  for (const [change, pointer] of cases) {
    const answer = await asService('POST /internal/vault', { ...good, ...change });
    expect([change, answer.status, answer.body['errors']?.[0]?.pointer]).toEqual([change, 400, pointer]);
  }
});

test('a service key adds and removes members, but never signers', async () => {
  const treasury = await foundTreasury();
  const path = `/internal/vault/${treasury.id}`;
  const added = await asService(`PUT ${path}/member/${treasury.mallory.id}`, { roles: ['viewer'] });
  expect(added.status).toBe(200);
  await accept(treasury.id, treasury.mallory);
  expect((await call(`GET /vault/${treasury.id}/transactions`, { token: treasury.mallory.token })).status).toBe(200);
  expect((await asService(`DELETE ${path}/member/${treasury.mallory.id}`)).status).toBe(200);
  expect((await call(`GET /vault/${treasury.id}/transactions`, { token: treasury.mallory.token })).status).toBe(403);
  const before = await asService(`GET ${path}`);
  const tries = [
    await asService(`PUT ${path}/member/${treasury.mallory.id}`, { roles: ['signer'] }),
    await asService(`PUT ${path}/member/${treasury.carol.id}`, { roles: ['viewer'] }),
    await asService(`DELETE ${path}/member/${treasury.bob.id}`),
  ];
  expect(tries.map(({ status, body }) => [status, body['code']])).toEqual(tries.map(() => [409, 'needs-quorum']));
  const more = await asService(`PUT ${path}/member/${treasury.bob.id}`, { roles: ['signer', 'admin'] });
  expect(more.status).toBe(200);
  const after = await asService(`GET ${path}`);
  expect(after.body['policy']).toEqual(before.body['policy']);
});

test('a vault gets a wallet on one more chain once, with the address of its key', async () => {
  const treasury = await foundTreasury();
  const vault = vaultOf(coordinator, treasury.id);
  // The key of the other tests is not a point of the curve. The generator is one.
  const generator = '"publicKey":"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"';
  await runInDurableObject(vault, (_object, { storage }) => {
    storage.sql.exec('UPDATE vault SET document = replace(document, ?, ?)', '"publicKey":"02"', generator);
  });
  await evictDurableObject(vault);
  const path = `/internal/vault/${treasury.id}`;
  const added = await asService(`PUT ${path}/wallet/base`);
  const address = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
  expect(added.body['wallets']).toEqual([
    { chain: 'anvil', address: WALLET },
    { chain: 'base', address },
  ]);
  expect((await asService(`PUT ${path}/wallet/eip155:8453`)).body).toEqual(added.body);
  const body = { vaultId: treasury.id, chain: 'base', to: RECIPIENT, amount: '1' };
  const env = { ...coordinator, RPC_URLS: JSON.stringify({ base: ['https://node-of-the-tests.test/8453'] }) };
  const paid = await call('POST /transaction/transfer', { token: treasury.alice.token, body, env });
  expect([paid.status, paid.body['from']]).toEqual([201, address]);
  await call(`GET /vault/${treasury.id}/transactions`, { token: treasury.victor.token });
  const { results } = await coordinator.DB.prepare('SELECT chain FROM wallets WHERE vault_id = ? ORDER BY chain')
    .bind(treasury.id)
    .all();
  expect(results.map(({ chain }) => chain)).toContain('base');
  expect((await asService(`PUT ${path}/wallet/atlantis`)).status).toBe(400);
  expect((await asService('PUT /internal/vault/999999/wallet/base')).status).toBe(404);
});

test('an address is in the directory before any caller learns it, so a payment that arrives at once has an owner', async () => {
  const trent = await enter('trent');
  const members = [{ userId: trent.id, roles: ['signer'] }];
  const approvalMode = 'token';
  const terms = { name: 'New', members, threshold: 1, approvalMode, initialState: 'SUBMITTED', chains: ['anvil'] };
  const { body: created } = await asService('POST /internal/vault', terms);
  const [keyId, address] = [parseKeyId('b'.repeat(26)), '0x5555555555555555555555555555555555555555'];
  if (keyId === null) throw new Error('the key id must parse');
  const vault = vaultOf(coordinator, created['id']);
  // The creation is complete. The next alarm is at least a tenth of a second later.
  await runDurableObjectAlarm(vault);
  await vault.report({
    type: 'recordKey',
    key: {
      keyId,
      scheme: 'ecdsa-secp256k1',
      publicKey: '02',
      publicShares: {},
      addresses: { anvil: address },
    },
  });
  const { body } = await asService(`GET /internal/vault/${created['id']}`);
  expect(body['wallets']).toEqual([{ chain: 'anvil', address }]);
  const directory = coordinator.DB.prepare('SELECT vault_id FROM wallets WHERE chain = ? AND address = ?');
  expect(await directory.bind('anvil', address).first()).toEqual({ vault_id: created['id'] });
});

test('a request about a missing vault or person gives 404', async () => {
  const trent = await enter('trent');
  const tries = [
    await asService('GET /internal/vault/999999'),
    await asService('GET /internal/vault/zero'),
    await asService('POST /internal/vault/999999/policy-change', { threshold: 1 }),
    await asService('POST /internal/vault/999999/projection'),
    await asService(`PUT /internal/vault/999999/member/${trent.id}`, { roles: ['viewer'] }),
    await asService('DELETE /internal/vault/1/member/unknown'),
  ];
  expect(tries.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
});

test('the status shows the messages that the queues have given up', async () => {
  const letter = { id: 'm1', queue: 'conclave-signing-dead', body: '{"job":"sign"}', atMs: 1_700_000_000_000 };
  await addDeadLetter(coordinator.DB, letter);
  await addDeadLetter(coordinator.DB, letter);
  const { body } = await asService('GET /internal/dead-letter');
  expect(body['deadLetters']).toEqual([
    { id: 'm1', queue: 'conclave-signing-dead', body: '{"job":"sign"}', at: '2023-11-14T22:13:20.000Z' },
  ]);
});

test('an operator adds tokens to a service account, which neither approve nor manage tokens', async () => {
  const created = await asService('POST /internal/user', {
    name: 'Payouts',
    email: 'payouts@example.com',
    isServiceAccount: true,
  });
  const path = `/internal/user/${created.body['id']}/access-token`;
  const first = await asService(`POST ${path}`, { name: 'first' });
  expect((await call('GET /user/me', { token: String(first.body['token']) })).status).toBe(200);
  const added = await asService(`POST ${path}`, { name: 'second', scopes: ['read', 'create'] });
  expect(added.status).toBe(201);
  const both = [first, added].map(({ body }) => String(body['token']));
  for (const token of both) expect((await call('GET /user/me', { token })).status).toBe(200);
  for (const scopes of [undefined, ['read', 'approve'], ['read', 'manage-tokens']]) {
    const refused = await asService(`POST ${path}`, { name: 'third', ...(scopes === undefined ? {} : { scopes }) });
    expect([refused.status, refused.body['code']]).toEqual([409, 'credential-reset-required']);
  }
  // A repeated creation makes no service account of a person.
  const person = { name: 'Person', email: 'person@example.com' };
  const { body } = await asService('POST /internal/user', person);
  await asService('POST /internal/user', { ...person, isServiceAccount: true });
  const token = await asService(`POST /internal/user/${body['id']}/access-token`, { name: 'first' });
  expect((await call('GET /user/me', { token: String(token.body['token']) })).status).toBe(200);
  const refused = await asService(`POST /internal/user/${body['id']}/access-token`, { name: 'more', scopes: ['read'] });
  expect([refused.status, refused.body['code']]).toEqual([409, 'credential-reset-required']);
});
