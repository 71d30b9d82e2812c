import { expect, test } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { vaultStub } from '#objects/vault/stub.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Answer, Person } from '../scene.worker.ts';
import { anotherToken, asService, call, coordinator, enter } from '../scene.worker.ts';

/**
 * Covers the founding of a vault in device mode: what is missing, who signs, and what waits for it.
 */

const as = async (person: Person, line: string, body?: object): Promise<Answer> =>
  call(line, { token: (await anotherToken(person)).token, ...(body === undefined ? {} : { body }) });

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
  return vaultStub(coordinator, vaultId).query(null, { type: 'keyWork' });
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
  expect(founding).toEqual({ version: 1, missing: all.toSorted(byKeyId), changeId: expect.any(String) });
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
  expect(actions).toEqual(['found', 'propose-founding', ...approvals, 'adopt-founding']);
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
  const addDevices = [alice, bob].map((person) => ScriptDevice.create().enrolment(person.id));
  const patch = { approvalMode: 'device', signers: [alice.id, bob.id], addDevices, cosigners: null };
  const refused = await as(alice, `POST /vault/${id}/policy-change`, patch);
  expect([refused.status, refused.body['errors']?.[0]?.pointer]).toEqual([400, '/signers']);
});
