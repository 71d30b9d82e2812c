/**
 * Attack: a policy change keeps every passkey by its key ID and changes its domain or credential.
 *   No passkey can sign any more, and a signer sees no difference.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: F6, F14
 * Defence: the domain of a passkey is the host of its origin. Co-signers, the coordinator, the
 *   approval page and the device command refuse a policy that changes a device instead of adding or
 *   removing it.
 */
import { expect, test } from 'vitest';
import { parseDevice } from '#devices/device-key.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { Device } from '#domain/access/device.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { byDevice, phone } from '../../../cosigner/policy/device-scene.ts';
import { changeTo, LAPTOP, PHONE, policyScene, shownTo } from '../../policy-scene.ts';

const scene = policyScene(byDevice);

const { passkey } = phone;
const withDevice = (device: Device, more: Partial<Policy> = {}): Policy => ({
  ...byDevice,
  version: 2,
  previousHash: policyHashOf(byDevice),
  devices: sortedByKeyId([...byDevice.devices.filter(({ keyId }) => keyId !== passkey.keyId), device]),
  ...more,
});

test('a passkey has no other domain than the host of its page', () => {
  const { algorithm, publicKey, credentialId, userId, origin } = passkey;
  const domainOf = (rpId: string) => parseDevice({ algorithm, publicKey, credentialId, userId, origin, rpId });
  expect(domainOf('vaults.example.com')).toEqual(passkey);
  expect(['com', 'example.com', 'example.org', 'a.vaults.example.com'].map(domainOf)).toEqual(Array(4).fill('origin'));
});

test('no co-signer adopts a policy that changes a device in force, whichever signers approved it', async () => {
  const changed: readonly Device[] = [
    { ...passkey, credentialId: 'B'.repeat(43) },
    { ...passkey, rpId: 'evil.example.com', origin: 'https://evil.example.com' },
    { ...passkey, userId: LAPTOP.actor.userId },
  ];
  for (const device of changed) {
    for (const more of [{}, { threshold: 3 }]) {
      const change = changeTo(withDevice(device, more), [LAPTOP, PHONE]);
      const answers = await shownTo(scene.cosigners.all, change);
      expect(answers.every((answer) => answer !== 'adopted')).toBe(true);
    }
  }
  const unchanged = changeTo(withDevice(passkey, { threshold: 3 }), [LAPTOP, PHONE]);
  expect(await shownTo(scene.cosigners.all, unchanged)).toEqual(['adopted', 'adopted', 'adopted']);
});
