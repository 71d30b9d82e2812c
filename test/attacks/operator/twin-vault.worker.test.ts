/**
 * Attack: the thief of a service key creates a vault with the name and the signers of a real one,
 *   and a signer of the thief. It stands above the real one in every member's dashboard, and its
 *   address receives the money that was meant for the real one. One approval takes it.
 * Attacker: operator
 * Co-signers: 0
 * Finding: S4
 * Defence: a member joins a vault by accepting it. Until then the dashboard shows it apart, without
 *   an address and with the vaults of the same name, and the vault refuses every other request of
 *   the member.
 */
import { expect, test } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import { accept, anotherToken, asService, call, enter, foundTreasury } from '../../http/scene.worker.ts';
import { changePolicy, login, payment, recordKey } from '../../http/scene.worker.ts';

const outcome = ({ status, body }: Answer) => [status, body['code']];

const THIEFS_WALLET = '0x4444444444444444444444444444444444444444';

/** Creates the vault of the thief with the members of a real vault. Returns its number. */
async function twinOf(
  { alice, bob, carol }: Treasury,
  differences: Readonly<Record<string, unknown>> = {},
): Promise<[number, Person]> {
  const ghost = await enter('ghost');
  const signers = [ghost, alice, bob, carol].map(({ id }) => ({ userId: id, roles: ['initiator', 'signer'] }));
  const opened = await asService('POST /internal/vault', {
    name: 'Treasury',
    members: signers,
    threshold: 1,
    approvalMode: 'token',
    initialState: 'SUBMITTED',
    chains: ['anvil'],
    ...differences,
  });
  expect(opened.status).toBe(201);
  const id = Number(opened.body['id']);
  await recordKey(id, { anvil: THIEFS_WALLET });
  return [id, await accept(id, ghost)];
}

/** Returns the vaults of a person, as the dashboard reads them. */
async function vaultsOf(person: Person): Promise<readonly Record<string, unknown>[]> {
  const headers = { cookie: await login(person), origin: 'http://conclave.test' };
  return (await call('GET /session/vaults', { headers })).body['data'];
}

const addressesIn = (vaults: readonly Record<string, unknown>[]) =>
  vaults.flatMap(({ wallets }) => (wallets as { address: string }[]).map(({ address }) => address));

test('a vault that a member has not accepted shows the member no address, and names the real vault', async () => {
  const treasury = await foundTreasury();
  const [fake] = await twinOf(treasury, { name: 'Tr\u0435asury' });
  const vaults = await vaultsOf(treasury.alice);
  expect(addressesIn(vaults)).not.toContain(THIEFS_WALLET);
  expect(vaults).toMatchObject([
    { id: fake, membership: 'invited', wallets: [], namesakes: [treasury.id] },
    { id: treasury.id, membership: 'accepted', namesakes: [fake] },
  ]);
});

test('it refuses every other request of the member, and waits for nothing', async () => {
  const treasury = await foundTreasury();
  const [fake, ghost] = await twinOf(treasury);
  const paid = await call('POST /transaction/transfer', {
    token: ghost.token,
    body: { ...payment(treasury), vaultId: fake },
  });
  expect(paid.status).toBe(201);
  const { token } = await anotherToken(treasury.alice);
  const refused = [403, 'vault-not-accepted'];
  for (const path of ['policy', 'balances', 'transactions', 'member', 'history', 'policy-change']) {
    expect([path, ...outcome(await call(`GET /vault/${fake}/${path}`, { token }))]).toEqual([path, ...refused]);
  }
  const id = String(paid.body['id']);
  expect(outcome(await call(`GET /transaction/${id}`, { token }))).toEqual(refused);
  expect(outcome(await call(`POST /transaction/${id}/approve`, { token }))).toEqual(refused);
  const body = { ...payment(treasury), vaultId: fake };
  expect(outcome(await call('POST /transaction/transfer', { token, body }))).toEqual(refused);
  const pending = await call('GET /user/me/pending', { token });
  expect(pending.body).toMatchObject({ data: [], incompleteVaults: [] });
});

test('who is added later, by an operator or by a quorum, has to accept, too', async () => {
  const treasury = await foundTreasury();
  const [fake, ghost] = await twinOf(treasury);
  const { victor, mallory } = treasury;
  expect((await asService(`PUT /internal/vault/${fake}/member/${victor.id}`, { roles: ['viewer'] })).status).toBe(200);
  const [{ token }, line] = [await anotherToken(ghost), `POST /vault/${fake}/policy-change`];
  const proposed = await call(line, { token, body: { signers: [ghost.id, mallory.id], threshold: 1 } });
  expect(proposed.status).toBe(201);
  const decided = await call(`${line}/${proposed.body['id']}/approve`, { token });
  expect(decided.body).toMatchObject({ state: 'ADOPTED' });
  for (const person of [victor, mallory]) {
    expect(addressesIn(await vaultsOf(person))).not.toContain(THIEFS_WALLET);
    const read = await call(`GET /vault/${fake}/policy`, { token: (await anotherToken(person)).token });
    expect(outcome(read)).toEqual([403, 'vault-not-accepted']);
  }
});

test('it cancels no credential reset of the member, by its signers or by a device in the name of the member', async () => {
  const treasury = await foundTreasury();
  const { alice } = treasury;
  const device = ScriptDevice.create();
  const [fake, ghost] = await twinOf(treasury, { devices: [device.enrolment(alice.id)] });
  expect((await call('GET /user/me', { token: alice.token })).status).toBe(200);
  const reset = String((await asService(`POST /internal/user/${alice.id}/credential-reset`)).body['id']);
  const line = `POST /vault/${fake}/credential-reset/${reset}/cancel`;
  const unknown = [404, 'credential-reset-not-found'];
  expect(outcome(await call(line, { token: ghost.token }))).toEqual(unknown);
  const listed = await call(`GET /vault/${fake}/credential-reset`, { token: ghost.token });
  const { digest }: { digest: string } = listed.body['data'][0];
  expect(outcome(await call(`${line}-by-device`, { body: device.sign(digest) }))).toEqual(unknown);
});

test('a member declines a vault, accepts it after all, and then is a member', async () => {
  const treasury = await foundTreasury();
  const [vaultId] = await twinOf(treasury);
  const { bob } = treasury;
  const answer = async (name: string, person = bob) =>
    call(`POST /vault/${vaultId}/${name}`, { token: (await anotherToken(person)).token });
  for (let repeated = 0; repeated < 2; repeated += 1) {
    expect((await answer('decline')).body).toEqual({ vaultId, accepted: false });
  }
  expect((await vaultsOf(bob))[0]).toMatchObject({ id: vaultId, membership: 'declined' });
  for (let repeated = 0; repeated < 2; repeated += 1) {
    expect((await answer('accept')).body).toEqual({ vaultId, accepted: true });
  }
  expect(outcome(await answer('decline'))).toEqual([409, 'vault-accepted']);
  expect(outcome(await answer('accept', treasury.mallory))).toEqual([403, 'forbidden']);
  const { token } = await anotherToken(bob);
  const { body } = await call(`GET /vault/${vaultId}/history`, { token });
  const answers = (body['history'] as readonly Record<string, unknown>[]).filter(
    ({ actor }) => (actor as { userId: string } | null)?.userId === bob.id,
  );
  const detail = JSON.stringify({ roles: ['initiator', 'signer'] });
  expect(answers).toMatchObject([
    { action: 'decline-vault', detail },
    { action: 'accept-vault', detail },
  ]);
  const { body: vault } = await asService(`GET /internal/vault/${vaultId}`);
  const accepted = (vault['members'] as { userId: string; accepted: boolean }[]).filter((one) => one.accepted);
  expect(accepted.map(({ userId }) => userId)).toContain(bob.id);
  expect(accepted).toHaveLength(2);
});

test('a signer who has not accepted is no part of the quorum that an admin leaves', async () => {
  const treasury = await foundTreasury();
  const { alice, bob, carol, mallory } = treasury;
  await changePolicy(treasury, { signers: [alice.id, bob.id, carol.id, mallory.id], threshold: 3 });
  const admin = await enter('admin');
  await asService(`PUT /internal/vault/${treasury.id}/member/${admin.id}`, { roles: ['admin'] });
  const { token } = await anotherToken(await accept(treasury.id, admin));
  const disabled = await call(`POST /vault/${treasury.id}/member/${bob.id}/disable`, { token });
  expect(outcome(disabled)).toEqual([409, 'quorum-disabled']);
});
