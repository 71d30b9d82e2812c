import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { Device, Passkey } from '#domain/access/device.ts';
import { CREDENTIAL_ID, DEVICE_ALGORITHMS } from '#domain/access/device.ts';
import type { DeviceKeyId, UserId } from '#domain/id.ts';
import { parseDeviceKeyId } from '#domain/id.ts';

/** A device in the caller's description. */
export interface DeviceDescription {
  readonly userId: UserId;
  readonly algorithm: string;
  /** Hex: 32 bytes of Ed25519, or a P-256 point in 33 or 65 bytes. */
  readonly publicKey: string;
  /** A passkey has all three, and a script's key has none. */
  readonly credentialId: string | null;
  readonly rpId: string | null;
  readonly origin: string | null;
}

/** The invalid part of a description. */
export type DeviceFault = 'algorithm' | 'publicKey' | 'credentialId' | 'rpId' | 'origin';

const ID_BYTES = 16;
const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/**
 * Returns the device id: the first 128 bits of a hash over the public key. The same key is the same
 * device, whichever user claims it.
 */
export function deviceKeyId({ algorithm, publicKey }: Pick<Device, 'algorithm' | 'publicKey'>): DeviceKeyId {
  const name = canonicalBytes('conclave/device-key/v1', [
    ['algorithm', algorithm],
    ['publicKey', publicKey],
  ]);
  const id = parseDeviceKeyId(`dev_${bytesToHex(sha256(name).subarray(0, ID_BYTES))}`);
  if (id === null) throw new Error('the id of a device key is not valid');
  return id;
}

/**
 * Returns the described device, with its key in canonical spelling, or the invalid part. A key
 * whose signatures are valid for any text (a point of small order) is refused.
 */
export function parseDevice(described: DeviceDescription): Device | DeviceFault {
  const { userId, credentialId, rpId, origin } = described;
  const algorithm = DEVICE_ALGORITHMS.find((one) => one === described.algorithm);
  if (algorithm === undefined) return 'algorithm';
  const key = readKey(algorithm, described.publicKey);
  if (key === null) return 'publicKey';
  if (algorithm === 'ed25519') {
    if (credentialId !== null) return 'credentialId';
    if (rpId !== null) return 'rpId';
    if (origin !== null) return 'origin';
    return { ...key, userId, algorithm };
  }
  if (credentialId === null || !CREDENTIAL_ID.test(credentialId)) return 'credentialId';
  if (rpId === null || !HOST.test(rpId)) return 'rpId';
  if (origin === null || !isOriginOf(origin, rpId)) return 'origin';
  const site: Pick<Passkey, 'credentialId' | 'rpId' | 'origin'> = { credentialId, rpId, origin };
  return { ...key, userId, algorithm, ...site };
}

/**
 * Ours: the keys of several hundred policies. Each policy of a vault names mostly the same devices,
 * and decoding an Ed25519 key takes a millisecond.
 */
const MAX_KNOWN_KEYS = 1_000;
type KnownKey = Pick<Device, 'keyId' | 'publicKey'>;
/** Hex of valid keys as they were read, with their canonical spelling, the oldest first. */
const KNOWN_KEYS = new Map<string, KnownKey>();

/** Returns the canonical spelling and the id of a key, or null when it is invalid. */
function readKey(algorithm: Device['algorithm'], text: string): KnownKey | null {
  const name = `${algorithm} ${text}`;
  const known = KNOWN_KEYS.get(name);
  if (known !== undefined) return known;
  const publicKey = algorithm === 'ed25519' ? edwardsKey(text) : p256Key(text);
  if (publicKey === null) return null;
  const key = { keyId: deviceKeyId({ algorithm, publicKey }), publicKey };
  const oldest = KNOWN_KEYS.keys().next();
  if (KNOWN_KEYS.size >= MAX_KNOWN_KEYS && oldest.done !== true) KNOWN_KEYS.delete(oldest.value);
  KNOWN_KEYS.set(name, key);
  return key;
}

function edwardsKey(text: string): string | null {
  if (!/^[0-9a-f]{64}$/.test(text)) return null;
  try {
    const point = ed25519.Point.fromHex(text);
    return point.isTorsionFree() && !point.is0() ? text : null;
  } catch {
    return null;
  }
}

function p256Key(text: string): string | null {
  if (!/^(0[23][0-9a-f]{64}|04[0-9a-f]{128})$/.test(text)) return null;
  try {
    return bytesToHex(p256.Point.fromBytes(hexToBytes(text)).toBytes(true));
  } catch {
    return null;
  }
}

/**
 * Reports whether a domain is the host of an origin. A browser also accepts a parent domain, under
 * which every other host of it could request signatures, and a policy change could take a passkey
 * away from its page. Browsers sign only on secure pages: https, or this machine.
 */
function isOriginOf(origin: string, rpId: string): boolean {
  const url = URL.parse(origin);
  if (url === null || url.origin !== origin) return false;
  return isSecureOrigin(url) && url.hostname === rpId;
}

/** Reports whether browsers sign on a page: on https, or on this machine (RFC 6761, part 6.3). */
export function isSecureOrigin({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean {
  const isThisMachine = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine);
}
