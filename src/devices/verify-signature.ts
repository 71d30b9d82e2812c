import { p256 } from '@noble/curves/nist.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { Device } from '#domain/access/device.ts';

const KEYS = new WeakMap<Device, Promise<CryptoKey>>();

/**
 * Whether a device has signed this: Ed25519 (RFC 8032), or ECDSA on P-256 with SHA-256, in 64 bytes. By Web Crypto, which is the runtime's
 * own and takes an eighth of the time of the library that looks at the keys: a co-signer checks every voice twice for every signature.
 */
export async function verifyDeviceSignature(
  device: Device,
  signature: Uint8Array,
  message: Uint8Array,
): Promise<boolean> {
  const key = KEYS.get(device) ?? imported(device);
  KEYS.set(device, key);
  const algorithm = device.algorithm === 'ed25519' ? 'Ed25519' : { name: 'ECDSA', hash: 'SHA-256' };
  return crypto.subtle.verify(algorithm, await key, Uint8Array.from(signature), Uint8Array.from(message));
}

/** The key was looked at when the device was read (`parseDevice`). A runtime need not take a point in 33 bytes, the standard says. */
function imported({ algorithm, publicKey }: Device): Promise<CryptoKey> {
  if (algorithm === 'ed25519') {
    return crypto.subtle.importKey('raw', Uint8Array.from(hexToBytes(publicKey)), 'Ed25519', false, ['verify']);
  }
  const point = Uint8Array.from(p256.Point.fromHex(publicKey).toBytes(false));
  return crypto.subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']);
}
