import { randomBytes } from '@noble/hashes/utils.js';
import { mandateDigest } from '#devices/policy-succession.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { Authenticator } from '../../devices/authenticator.ts';
import { alice, bob, carol, policy } from '../../domain/cast.ts';

/**
 * A vault in which devices sign: alice has a laptop with a script device, bob has a phone with a
 * passkey, and carol's device is in a safe.
 */

export const laptop: ScriptDevice = ScriptDevice.create();
export const phone: Authenticator = new Authenticator(bob.userId);

/** Carol's device. */
export const inTheSafe: ScriptDevice = ScriptDevice.create();

export const byDevice: Policy = {
  ...policy,
  approvalMode: 'device',
  devices: sortedByKeyId([laptop.asDevice(alice.userId), phone.passkey, inTheSafe.asDevice(carol.userId)]),
};

/** What signs for a device of a policy. */
export interface Signer {
  signed(digest: string): DeviceSignature;
}

const HOUR_MS = 60 * 60 * 1000;

/**
 * Returns the first policy of a vault as its signers found it: in device mode every device signs
 * it.
 *
 * @param others the devices of the policy that are not in this scene
 */
export function founded(first: Policy, ...others: readonly Signer[]): AdoptedPolicy {
  if (first.approvalMode === 'token') return { policy: first, mandate: null };
  const createdAtMs = Date.now() - 1000;
  const id = newPolicyChangeId(createdAtMs, randomBytes(10));
  const terms = { id, note: null, createdAtMs, expiresAtMs: createdAtMs + HOUR_MS };
  const digest = mandateDigest(terms, first);
  const signatures = [laptop, phone, inTheSafe, ...others].map((device) => device.signed(digest));
  const approvals = first.devices.flatMap(({ keyId, userId }) => {
    const device = signatures.find((signature) => signature.keyId === keyId);
    return device === undefined ? [] : [{ actor: { ...alice, userId }, digest, device, atMs: createdAtMs }];
  });
  return { policy: first, mandate: { ...terms, policy: first, approvals } };
}
