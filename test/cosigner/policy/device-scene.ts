import { sortedByKeyId } from '#domain/access/device.ts';
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

const inTheSafe = ScriptDevice.create().asDevice(carol.userId);

export const byDevice: Policy = {
  ...policy,
  approvalMode: 'device',
  devices: sortedByKeyId([laptop.asDevice(alice.userId), phone.passkey, inTheSafe]),
};
