import type { Device } from '#domain/access/device.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { DeviceKeyId } from '#domain/id.ts';
import { parseDeviceKeyId } from '#domain/id.ts';

export function keyOf(number: number): DeviceKeyId {
  const id = parseDeviceKeyId(`dev_${number.toString(16).padStart(32, '0')}`);
  if (id === null) throw new Error('the id must parse');
  return id;
}

/** Returns a script device of a person. */
export const deviceOf = ({ userId }: Actor, number: number): Device => {
  return { keyId: keyOf(number), userId, algorithm: 'ed25519', publicKey: String(number).padStart(64, '0') };
};
