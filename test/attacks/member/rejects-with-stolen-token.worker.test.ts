/**
 * Attack: the thief of one token of a signer rejects every policy change, also the one that would
 *   revoke what was stolen.
 * Attacker: member
 * Co-signers: 0
 * Finding: F14
 * Defence: in device mode a rejection of a policy change has a device signature over bytes of its
 *   own domain, like an approval.
 */
import { expect, test } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import { anotherToken, asPerson, call, foundTreasury } from '../../http/scene.worker.ts';

const post = (person: Person, path: string, body?: object) => asPerson(person, `POST ${path}`, body);

const NAMES = ['alice', 'bob', 'carol'] as const;
const outcome = ({ status, body }: Answer) => [status, body['code']];
const changesOf = ({ id }: Treasury) => `/vault/${id}/policy-change`;

/** Creates a vault in device mode in which all three signers approve a change. */
async function newDeviceTreasury() {
  const treasury = await foundTreasury();
  const devices = { alice: ScriptDevice.create(), bob: ScriptDevice.create(), carol: ScriptDevice.create() };
  const addDevices = NAMES.map((name) => devices[name].enrolment(treasury[name].id));
  // The co-signers are unreachable in this test, so the change names no co-signer keys.
  const patch = { approvalMode: 'device', threshold: 3, addDevices, cosigners: null };
  const proposed = await post(treasury.alice, changesOf(treasury), patch);
  const { id, digest } = proposed.body;
  for (const name of NAMES)
    await post(treasury[name], `${changesOf(treasury)}/${id}/approve`, devices[name].sign(digest));
  return { treasury, devices };
}

test('a stolen token does not reject a policy change of a vault in device mode', async () => {
  const { treasury, devices } = await newDeviceTreasury();
  const { alice, bob } = treasury;
  const { id, digest, rejection } = (await post(alice, changesOf(treasury), { threshold: 2 })).body;
  const path = `${changesOf(treasury)}/${id}`;
  expect((await post(bob, `${path}/approve`, devices.bob.sign(digest))).status).toBe(200);
  // The thief has a token of bob and every signature that bob gave.
  expect(outcome(await post(bob, `${path}/reject`))).toEqual([403, 'device-signature-required']);
  for (const signature of [devices.bob.sign(digest), ScriptDevice.create().sign(rejection.digest)]) {
    expect(outcome(await post(bob, `${path}/reject`, signature))).toEqual([403, 'device-signature-refused']);
  }
  const { token } = await anotherToken(alice);
  const { body } = await call(`GET ${path}`, { token });
  expect([body['state'], body['approvals'].length, body['rejections']]).toEqual(['PENDING', 1, []]);
});

test('a signer rejects a policy change with a device, over the digest that the change shows', async () => {
  const { treasury, devices } = await newDeviceTreasury();
  const { id, rejection } = (await post(treasury.alice, changesOf(treasury), { threshold: 2 })).body;
  const signature = devices.bob.sign(rejection.digest);
  const rejected = await post(treasury.bob, `${changesOf(treasury)}/${id}/reject`, signature);
  expect([rejected.status, rejected.body['state']]).toEqual([200, 'REJECTED']);
  expect(rejected.body['rejections']).toMatchObject([{ userId: treasury.bob.id, device: signature }]);
});
