/**
 * Attack: the coordinator renews an expired mandate with the approvals of the devices that the
 *   policy change itself adds.
 * Attacker: coordinator and devices
 * Co-signers: 0
 * Finding: 2.8
 * Defence: a renewed mandate is judged as the first mandate was: by the quorum of the policy before
 *   that version.
 */
import { expect, test } from 'vitest';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { mallory } from '../../domain/cast.ts';
import type { Signs } from '../policy-scene.ts';
import { changeTo, LAPTOP, OF_THREE, PHONE, policyScene, shownTo } from '../policy-scene.ts';

const scene = policyScene(OF_THREE.first);

const [one, two] = [ScriptDevice.create(), ScriptDevice.create()];
const MALLORYS: readonly Signs[] = [
  { actor: mallory, device: one },
  { actor: mallory, device: two },
];
/** A policy change that would let mallory sign alone. Alice and bob saw it expire. */
const takeover: Policy = {
  ...OF_THREE.revoked,
  signers: [mallory.userId],
  threshold: 1,
  devices: sortedByKeyId([one.asDevice(mallory.userId), two.asDevice(mallory.userId)]),
};

test('devices that a change adds cannot renew its mandate, and the earlier devices can', async () => {
  const no = ['policy-mismatch', 'policy-mismatch', 'policy-mismatch'];
  expect(await shownTo(scene.cosigners.all, changeTo(takeover, MALLORYS))).toEqual(no);
  // The approval of one of the two earlier devices is not enough, with any number of new devices.
  expect(await shownTo(scene.cosigners.all, changeTo(takeover, [LAPTOP, ...MALLORYS]))).toEqual(no);
  // A renewal that does not count does not revive the first mandate.
  const expired = changeTo(takeover, [LAPTOP, PHONE], Date.now() - 1);
  const late = ['mandate-expired', 'mandate-expired', 'mandate-expired'];
  expect(await shownTo(scene.cosigners.all, expired, scene.cosigners.all)).toEqual(late);
  const renewed = changeTo(takeover, [LAPTOP, PHONE]);
  expect(await shownTo(scene.cosigners.all, renewed)).toEqual(['adopted', 'adopted', 'adopted']);
});
