import { expect, test } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Answer, Person } from '../scene.worker.ts';
import { accept, anotherToken, asService, call, coordinator, enter } from '../scene.worker.ts';

/**
 * Covers the founding of a vault in device mode: what is missing, who signs, and what waits for it.
 */

const as = async (person: Person, line: string, body?: object): Promise<Answer> =>
  call(line, { token: (await anotherToken(person)).token, ...(body === undefined ? {} : { body }) });

/** No signer lacks a device. */
const COMPLETE = { withoutDevice: [], lacksRequiredDevice: false };

/** Creates a vault in device mode of alice, who has two devices, and bob, who has one. */
async function unfounded() {
  const [alice, bob] = [await enter('alice'), await enter('bob')];
  const [laptop, spare, phone] = [ScriptDevice.create(), ScriptDevice.create(), ScriptDevice.create()];
  const devices = [laptop.enrolment(alice.id), spare.enrolment(alice.id), phone.enrolment(bob.id)];
  const created = await asService('POST /internal/vault', {
    name: 'Cold',
    members: [alice, bob].map(({ id }) => ({ userId: id, roles: ['signer', 'initiator'] })),
    threshold: 1,
    initialState: 'SUBMITTED',
    chains: ['anvil'],
    approvalMode: 'device',
    decisionPeriodSeconds: 60,
    devices,
    cosigners: null,
  });
  expect(created.status).toBe(201);
  const { id, founding } = created.body;
  for (const person of [alice, bob]) await accept(id, person);
  const line = `/vault/${id}/policy-change/${founding.changeId}`;
  const signs = async (person: Person, device: ScriptDevice) => {
    const { digest } = (await as(person, `GET ${line}`)).body;
    return as(person, `POST ${line}/approve`, device.sign(digest));
  };
  return { id: id as number, founding, line, signs, alice, bob, laptop, spare, phone };
}

const keyWorkOf = async (id: number) => {
  const vaultId = parseVaultId(id);
  if (vaultId === null) throw new Error('the vault exists');
  return vaultStub(coordinator, vaultId).work({ type: 'keyWork' });
};

test('a vault in device mode waits for every device in its policy, and states which are missing', async () => {
  const { id, founding, line, signs, alice, bob, laptop, spare, phone } = await unfounded();
  const missing = async () => (await as(bob, `GET /vault/${id}/policy`)).body['founding'];
  const of = (person: Person, device: ScriptDevice) => ({
    userId: person.id,
    keyId: device.keyId(),
  });
  const all = [of(alice, laptop), of(alice, spare), of(bob, phone)];
  const byKeyId = (a: { keyId: string }, b: { keyId: string }) => (a.keyId < b.keyId ? -1 : 1);
  expect(founding).toEqual({ version: 1, missing: all.toSorted(byKeyId), ...COMPLETE, changeId: expect.any(String) });
  expect(await missing()).toEqual(founding);
  expect(await keyWorkOf(id)).toBeNull();
  const pending = (await as(alice, `GET ${line}`)).body;
  expect(pending).toMatchObject({ state: 'PENDING', renewsVersion: 1, requiredApprovals: 2, createdBy: null });
  // The decision period of one minute is too short to found a vault.
  expect(Date.parse(pending['expiresAt']) - Date.parse(pending['createdAt'])).toBe(7 * 24 * 60 * 60 * 1000);
  // A token alone founds nothing.
  expect((await as(alice, `POST ${line}/approve`)).body['code']).toBe('device-signature-required');
  expect((await signs(bob, laptop)).body['code']).toBe('device-signature-refused');
  expect((await signs(alice, laptop)).body).toMatchObject({ state: 'PENDING', actionsForMe: ['approve', 'reject'] });
  expect((await signs(bob, phone)).body['state']).toBe('PENDING');
  expect((await signs(alice, laptop)).body['approvals']).toHaveLength(2);
  expect((await missing()).missing).toEqual([of(alice, spare)]);
  expect(await keyWorkOf(id)).toBeNull();
  expect((await signs(alice, spare)).body).toMatchObject({ state: 'ADOPTED', actionsForMe: [] });
  expect(await missing()).toBeNull();
  expect((await asService(`GET /internal/vault/${id}`)).body['founding']).toBeNull();
  expect(await keyWorkOf(id)).toMatchObject({ candidate: null, expiredVersions: [] });
  const history = (await as(alice, `GET /vault/${id}/history`)).body['history'] as { action: string }[];
  const actions = history.map(({ action }) => action);
  const approvals = Array(3).fill('approve-founding') as string[];
  const accepted = ['accept-vault', 'accept-vault'];
  expect(actions).toEqual(['found', 'propose-founding', ...accepted, ...approvals, 'adopt-founding']);
});

test('a founding that a signer rejects is proposed again, and the same policy can be founded', async () => {
  const { id, line, signs, alice, bob, laptop, spare, phone } = await unfounded();
  await signs(alice, laptop);
  const { digest } = (await as(bob, `GET ${line}`)).body['rejection'];
  expect((await as(bob, `POST ${line}/reject`, phone.sign(digest))).body['state']).toBe('REJECTED');
  const founding = async () => (await as(bob, `GET /vault/${id}/policy`)).body['founding'];
  expect(await founding()).toMatchObject({ changeId: null, missing: [{}, {}, {}] });
  const again = await as(alice, `POST /vault/${id}/policy/1/renewal`);
  expect([again.status, (await founding()).changeId]).toEqual([201, again.body['id']]);
  const { id: changeId, digest: next } = again.body;
  for (const [person, device] of [
    [alice, laptop],
    [alice, spare],
    [bob, phone],
  ] as const) {
    await as(person, `POST /vault/${id}/policy-change/${changeId}/approve`, device.sign(next));
  }
  expect(await founding()).toBeNull();
  expect((await as(alice, `POST /vault/${id}/policy/1/renewal`)).body['code']).toBe('mandate-in-force');
});

test('a change to device mode adds no signer, because a new signer cannot approve it', async () => {
  const [alice, bob] = [await enter('alice'), await enter('bob')];
  const member = ({ id }: Person) => ({ userId: id, roles: ['signer'] });
  const body = { name: 'Warm', members: [member(alice)], threshold: 1, initialState: 'SUBMITTED', chains: ['anvil'] };
  const { id } = (await asService('POST /internal/vault', { ...body, approvalMode: 'token' })).body;
  await accept(id, alice);
  const addDevices = [alice, bob].map((person) => ScriptDevice.create().enrolment(person.id));
  const patch = { approvalMode: 'device', signers: [alice.id, bob.id], addDevices, cosigners: null };
  const refused = await as(alice, `POST /vault/${id}/policy-change`, patch);
  expect([refused.status, refused.body['errors']?.[0]?.pointer]).toEqual([400, '/signers']);
});

/** Creates a vault in device mode of alice and bob, without devices. */
async function withoutDevices(terms: object = {}) {
  const [alice, bob] = [await enter('alice'), await enter('bob')];
  const created = await asService('POST /internal/vault', {
    name: 'Cold',
    members: [alice, bob].map(({ id }) => ({ userId: id, roles: ['signer', 'initiator'] })),
    threshold: 2,
    initialState: 'SUBMITTED',
    chains: ['anvil'],
    approvalMode: 'device',
    cosigners: null,
    ...terms,
  });
  const { id } = created.body;
  if (created.status === 201) for (const person of [alice, bob]) await accept(id, person);
  const adds = (person: Person, device: ScriptDevice, more: object = {}) =>
    as(person, `POST /vault/${id}/policy-change`, { addDevices: [device.enrolment(person.id)], ...more });
  const policy = async () => (await as(alice, `GET /vault/${id}/policy`)).body;
  return { id: id as number, created, adds, policy, alice, bob };
}

test('signers add their devices to a vault that was created without them, and then found it', async () => {
  const { id, created, adds, policy, alice, bob } = await withoutDevices();
  const without = [alice.id, bob.id].toSorted();
  const nothing = { version: 1, missing: [], withoutDevice: without, lacksRequiredDevice: false, changeId: null };
  expect([created.status, created.body['founding']]).toEqual([201, nothing]);
  expect(await keyWorkOf(id)).toBeNull();
  // There is nothing to approve before each signer has a device.
  expect((await as(alice, `POST /vault/${id}/policy/1/renewal`)).body['code']).toBe('founding-incomplete');
  const [laptop, phone, spare] = [ScriptDevice.create(), ScriptDevice.create(), ScriptDevice.create()];
  const added = await adds(alice, laptop);
  expect([added.status, added.body]).toMatchObject([201, { state: 'ADOPTED', requiredApprovals: 0, approvals: [] }]);
  expect((await policy())['founding']).toMatchObject({ withoutDevice: [bob.id], changeId: null });
  expect(await keyWorkOf(id)).toBeNull();
  // A repetition after a lost answer changes nothing.
  expect((await adds(alice, laptop)).status).toBe(400);
  await adds(bob, phone);
  const { founding, policy: draft } = await policy();
  expect(founding).toMatchObject({ withoutDevice: [], missing: [{}, {}], changeId: expect.any(String) });
  expect(draft).toMatchObject({ version: 1, previousHash: '0'.repeat(64), devices: [{}, {}] });
  const approves = async (person: Person, device: ScriptDevice, changeId: string) => {
    const line = `/vault/${id}/policy-change/${changeId}`;
    return as(person, `POST ${line}/approve`, device.sign((await as(person, `GET ${line}`)).body['digest']));
  };
  expect((await approves(alice, laptop, founding.changeId)).body['state']).toBe('PENDING');
  // Another device replaces the draft. No approval of the draft before counts for it.
  await adds(bob, spare, { removeDevices: [phone.keyId()] });
  expect((await approves(bob, phone, founding.changeId)).body['code']).toBe('policy-change-not-pending');
  const again = (await policy())['founding'];
  expect(again.missing).toHaveLength(2);
  expect((await approves(bob, phone, again.changeId)).body['code']).toBe('device-signature-refused');
  await approves(bob, spare, again.changeId);
  expect(await keyWorkOf(id)).toBeNull();
  expect((await approves(alice, laptop, again.changeId)).body['state']).toBe('ADOPTED');
  expect((await policy())['founding']).toBeNull();
  expect(await keyWorkOf(id)).toMatchObject({ candidate: null, expiredVersions: [] });
  // From now on the quorum decides.
  expect((await adds(bob, phone)).body).toMatchObject({ state: 'PENDING', policy: { version: 2 } });
  const history = (await as(alice, `GET /vault/${id}/history`)).body['history'] as { action: string }[];
  const [draft1, founding1] = ['change-draft change-draft', 'propose-founding approve-founding supersede-founding'];
  const [draft2, founding2] = ['change-draft', 'propose-founding approve-founding approve-founding adopt-founding'];
  const expected = ['found accept-vault accept-vault', draft1, founding1, draft2, founding2, 'propose-policy'].join(
    ' ',
  );
  expect(history.map(({ action }) => action).join(' ')).toBe(expected);
});

test('a draft stays in device mode, and only a member of the vault with that right changes it', async () => {
  const { id, adds, policy, alice } = await withoutDevices();
  const mallory = await enter('mallory');
  expect((await adds(mallory, ScriptDevice.create())).body['code']).toBe('forbidden');
  const { policy: before } = await policy();
  const refused = await as(alice, `POST /vault/${id}/policy-change`, { approvalMode: 'token' });
  expect([refused.status, refused.body['errors']?.[0]?.pointer]).toEqual([400, '/approvalMode']);
  const foreign = { addDevices: [ScriptDevice.create().enrolment(mallory.id)] };
  expect((await as(alice, `POST /vault/${id}/policy-change`, foreign)).status).toBe(400);
  expect((await as(alice, `POST /vault/${id}/policy-change`, { threshold: 3 })).status).toBe(400);
  expect((await policy())['policy']).toEqual(before);
});
