/**
 * Attack: the coordinator has a policy change adopted a year after its signers saw it expire.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.8
 * Defence: a mandate expires by the clock of each co-signer, unless t other co-signers attest that
 *   they adopted the policy in time.
 */
import { expect, test } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import { byDevice } from '../../../cosigner/policy/device-scene.ts';
import { sourceOf } from '../../../cosigner/policy-source.ts';
import {
  attestationsOf,
  changeTo,
  first,
  LAPTOP,
  NEW_LAPTOP,
  NEW_PHONE,
  PHONE,
  policyScene,
  revoked,
  sentTo,
  shownTo,
} from '../../policy-scene.ts';

const scene = policyScene(byDevice);

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

test('an expired change with all its approvals is refused, even with the attestations of all co-signers', async () => {
  const holiday = { ...byDevice, version: 2, threshold: 1, previousHash: policyHashOf(byDevice) };
  const old = changeTo(holiday, [LAPTOP, PHONE], Date.now() - YEAR_MS);
  const no = ['mandate-expired', 'mandate-expired', 'mandate-expired'];
  expect(await shownTo(scene.cosigners.all, old)).toEqual(no);
  expect(await shownTo(scene.cosigners.all, old, scene.cosigners.all)).toEqual(no);
});

test('a co-signer that was unreachable adopts an expired change that two others adopted, and not one that they only chose', async () => {
  const inTime = changeTo(revoked, [LAPTOP, PHONE]);
  const late = changeTo(revoked, [LAPTOP, PHONE], Date.now() - 1);
  const third = scene.cosigners.some(3);
  const chosen = await attestationsOf(scene.cosigners.some(1, 2), [inTime]);
  expect(Object.keys(chosen.chosen)).toEqual(['1', '2']);
  expect(await sentTo(third, [late], chosen)).toEqual(['mandate-expired']);
  expect(await sentTo(scene.cosigners.some(1), [inTime], chosen)).toEqual(['adopted']);
  expect(await shownTo(third, late, scene.cosigners.some(1, 2))).toEqual(['mandate-expired']);
  expect(await sentTo(scene.cosigners.some(2), [inTime], chosen)).toEqual(['adopted']);
  const adopted = await attestationsOf(scene.cosigners.some(1, 2), [inTime]);
  expect(Object.keys(adopted.adopted)).toEqual(['1', '2']);
  // An attestation with one stage does not count as the other one.
  expect(await sentTo(third, [late], { chosen: {}, adopted: chosen.chosen })).toEqual(['mandate-expired']);
  // Attestations for this policy do not count for another one.
  const other = changeTo({ ...revoked, threshold: 1 }, [LAPTOP, PHONE], Date.now() - 1);
  expect(await sentTo(third, [other], adopted)).toEqual(['mandate-expired']);
  // Attestations do not replace a missing approval.
  expect(await sentTo(third, [changeTo(revoked, [LAPTOP], Date.now() - 1)], adopted)).toEqual(['policy-mismatch']);
  expect(await sentTo(third, [first, late], adopted)).toEqual(['adopted']);
});

test('a co-signer that is two versions behind gets the versions that it lacks, in order', async () => {
  const third = { ...revoked, version: 3, threshold: 3, previousHash: policyHashOf(revoked) };
  const fourth = { ...third, version: 4, threshold: 2, previousHash: policyHashOf(third) };
  const signs = [NEW_LAPTOP, NEW_PHONE];
  const all = [first, changeTo(revoked, [LAPTOP, PHONE]), changeTo(third, signs)];
  const everyone = { targets: scene.cosigners.all, attesters: scene.cosigners.all };
  expect(await bringPolicies(sourceOf(...all), everyone)).toEqual({ versions: { 1: 3, 2: 3, 3: 3 }, faults: [] });
  // Version 3 requires all three of its signers.
  const { versions, faults } = await bringPolicies(sourceOf(...all, changeTo(fourth, signs)), everyone);
  expect([versions, faults.map(({ code }) => code)]).toEqual([{ 1: 3, 2: 3, 3: 3 }, Array(3).fill('policy-mismatch')]);
});
