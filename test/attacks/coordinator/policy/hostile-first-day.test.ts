/**
 * Attack: a coordinator that is hostile when a vault is created adds devices of its own to the
 *   first policy in device mode, beside those of the signers, and founds the vault with them.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: N1
 * Defence: a co-signer takes the first policy in device mode only with the approval of every device
 *   in it. So a first policy that has the device of an honest signer was read by that signer.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { present, startCosigners } from '../../../cosigner/cosigners.ts';
import { generateKey } from '../../../cosigner/key/generate-key.ts';
import { byDevice, founded, inTheSafe, laptop, phone } from '../../../cosigner/policy/device-scene.ts';
import { alice, bob, carol, policy as byToken } from '../../../domain/cast.ts';
import { changeTo, NO_ATTESTATIONS, sentTo } from '../../policy-scene.ts';

let cosigners: Cosigners;
beforeAll(async () => {
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());

const thieves = [alice, bob, carol].map((actor) => ({ actor, device: ScriptDevice.create() }));
const ofThief = thieves.map(({ actor, device }) => device.asDevice(actor.userId));

/** The policy that the signers agreed on, with a further device in the name of each of them. */
const hidden: Policy = { ...byDevice, devices: sortedByKeyId([...byDevice.devices, ...ofThief]) };

const honest = [
  { actor: alice, device: laptop },
  { actor: bob, device: phone },
  { actor: carol, device: inTheSafe },
];

/** Returns a founding with the signatures that these devices gave for another policy. */
function withSignaturesOf(policy: Policy, signed: AdoptedPolicy): AdoptedPolicy {
  const forged = changeTo(policy, thieves);
  const { mandate } = forged;
  if (mandate === null || signed.mandate === null) throw new Error('both have a mandate');
  return { policy, mandate: { ...mandate, approvals: [...mandate.approvals, ...signed.mandate.approvals] } };
}

const FORGERIES: Readonly<Record<string, readonly AdoptedPolicy[]>> = {
  'without a founding': [{ policy: hidden, mandate: null }],
  'founded by a device of the thief for each signer': [changeTo(hidden, thieves)],
  'founded by the thief and all signers but one': [changeTo(hidden, [...thieves, ...honest.slice(1)])],
  'founded with the signatures of the policy that the signers read': [withSignaturesOf(hidden, founded(byDevice))],
};

test.each(Object.entries(FORGERIES))('a first policy %s is refused by every co-signer', async (_name, policies) => {
  expect(await sentTo(cosigners.all, policies, NO_ATTESTATIONS)).toEqual(Array(3).fill('not-founded'));
  const made = await generateKey(cosigners.all, { scheme: 'frost-ed25519', policies });
  expect(made).toMatchObject({ ok: false, refusal: { reason: expect.stringContaining('not-founded') as string } });
});

test('a policy in token mode is no way around it', async () => {
  const vaultId = present(parseVaultId(12));
  const inToken: Policy = { ...byToken, vaultId };
  const first: AdoptedPolicy = { policy: inToken, mandate: null };
  const after = { vaultId, version: 2, previousHash: policyHashOf(inToken) };
  const next: Policy = { ...hidden, ...after };
  const unsigned = { signed: (): DeviceSignature | null => null } as unknown as { signed(): DeviceSignature };
  // The coordinator counts approvals in token mode, so it invents them.
  const invented = honest.map(({ actor }) => ({ actor, device: unsigned }));
  for (const signs of [invented, [...invented, ...thieves]]) {
    const policies = [first, changeTo(next, signs)];
    expect(await sentTo(cosigners.all, policies, NO_ATTESTATIONS)).toEqual(Array(3).fill('not-founded'));
  }
  const read: Policy = { ...byDevice, ...after };
  expect(await sentTo(cosigners.all, [first, changeTo(read, honest)], NO_ATTESTATIONS)).toEqual(
    Array(3).fill('adopted'),
  );
});

test('the policy that every device signed founds the vault', async () => {
  const policies = [founded(byDevice)];
  expect(await generateKey(cosigners.all, { scheme: 'frost-ed25519', policies })).toMatchObject({ ok: true });
});
