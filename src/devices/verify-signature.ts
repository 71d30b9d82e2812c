import { p256 } from '@noble/curves/nist.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { Device } from '#domain/access/device.ts';

const KEYS = new WeakMap<Device, Promise<CryptoKey>>();

/**
 * Reports whether a device has signed a message: Ed25519 (RFC 8032), or ECDSA on P-256 with
 * SHA-256, in 64 bytes. It uses Web Crypto, which the runtime provides and which takes an eighth of
 * the time of the library that checks the keys.
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

/**
 * Returns the imported key. `parseDevice` has already checked it. A point is imported uncompressed,
 * because the standard does not require runtimes to accept one in 33 bytes.
 */
function imported({ algorithm, publicKey }: Device): Promise<CryptoKey> {
  if (algorithm === 'ed25519') {
    return crypto.subtle.importKey('raw', Uint8Array.from(hexToBytes(publicKey)), 'Ed25519', false, ['verify']);
  }
  const point = Uint8Array.from(p256.Point.fromHex(publicKey).toBytes(false));
  return crypto.subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']);
}
