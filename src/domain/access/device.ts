import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { DeviceKeyId, UserId, VaultId } from '#domain/id.ts';

/**
 * `ed25519` (RFC 8032) is for scripts. `webauthn-p256` is a passkey for people: ES256 of Web
 * Authentication Level 2.
 */
export const DEVICE_ALGORITHMS = ['ed25519', 'webauthn-p256'] as const;

interface DeviceKey {
  /** The id of the public key (`deviceKeyId`). */
  readonly keyId: DeviceKeyId;
  readonly userId: UserId;
  /** Lower-case hex: 32 bytes of Ed25519, or 33 bytes of a P-256 point. */
  readonly publicKey: string;
}

interface ScriptKey extends DeviceKey {
  readonly algorithm: 'ed25519';
}

/**
 * Web Authentication Level 2, part 5.8.3: base64url. An authenticator's own limit is 1023 bytes.
 */
export const CREDENTIAL_ID = /^[A-Za-z0-9_-]{16,1364}$/;

/** A credential that an authenticator holds for one site. */
export interface Passkey extends DeviceKey {
  readonly algorithm: 'webauthn-p256';
  /** The credential id that a browser passes to the authenticator, in base64url. */
  readonly credentialId: string;
  /** The domain that the authenticator knows: the host of the origin. */
  readonly rpId: string;
  /** The one page origin from which the passkey signs, such as `https://vaults.example.com`. */
  readonly origin: string;
}

/**
 * A key with which a signer signs approvals, so that co-signers do not depend on the coordinator
 * for them.
 */
export type Device = ScriptKey | Passkey;

/**
 * A digest that a device has signed. All fields except the key id are base64url without padding.
 */
export interface DeviceSignature {
  readonly keyId: DeviceKeyId;
  /** For Ed25519, 64 bytes over the 32 bytes of the digest; for a passkey, DER. */
  readonly signature: string;
  /**
   * The data that browser and authenticator sign instead of the digest, which is their challenge;
   * null for a script.
   */
  readonly assertion: { readonly authenticatorData: string; readonly clientDataJson: string } | null;
}

/** Ours: a request that a device signs is accepted for this long, whichever clock is ahead. */
export const DEVICE_REQUEST_MS = 5 * 60 * 1000;

/** A request that a device authenticates in place of an access token. */
export interface DeviceRequest {
  readonly vaultId: VaultId;
  readonly keyId: DeviceKeyId;
  readonly method: string;
  /** The path with the query. */
  readonly target: string;
  readonly atMs: number;
}

/**
 * Returns the bytes whose SHA-256 a device signs for a request. The body is not among them: a
 * decision in the body has a device signature of its own.
 */
export function deviceRequestBytes({ vaultId, keyId, method, target, atMs }: DeviceRequest): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/device-request/v1', [
    ['vaultId', String(vaultId)],
    ['keyId', keyId],
    ['method', method],
    ['target', target],
    ['atMs', String(atMs)],
  ]);
}

/** A person cannot keep control of more devices, and every co-signer reads all of them. */
export const MAX_DEVICES = 100;

/** Returns the devices in the one order that a policy has them in. */
export function sortedByKeyId(devices: readonly Device[]): readonly Device[] {
  return devices.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
}

/**
 * What makes an approval count. In `token` mode it is a signer's token or session, which only the
 * coordinator checks. In `device` mode it is the signature of one of the signer's devices, which
 * each co-signer checks by itself.
 */
export const APPROVAL_MODES = ['token', 'device'] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** Returns the fields that identify a device in a policy, including its owner. */
export function deviceFields(device: Omit<ScriptKey, 'keyId'> | Omit<Passkey, 'keyId'>): readonly CanonicalField[] {
  const passkey = device.algorithm === 'webauthn-p256' ? device : null;
  return [
    ['userId', device.userId],
    ['algorithm', device.algorithm],
    ['publicKey', device.publicKey],
    ['credentialId', passkey?.credentialId ?? null],
    ['rpId', passkey?.rpId ?? null],
    ['origin', passkey?.origin ?? null],
  ];
}

/**
 * Returns the id of a device that has the same key in both lists and differs in something else, or
 * null. A policy change may add and remove a device. It must not change one: a passkey with another
 * domain or credential can sign nothing, and its owner may not notice the difference.
 */
export function changedDevice(before: readonly Device[], after: readonly Device[]): DeviceKeyId | null {
  const text = (device: Device) => JSON.stringify(deviceFields(device));
  const changed = after.find((device) => {
    const known = before.find(({ keyId }) => keyId === device.keyId);
    return known !== undefined && text(known) !== text(device);
  });
  return changed?.keyId ?? null;
}

/**
 * Returns the bytes whose SHA-256 a device signs. The signature proves possession before the
 * signers decide whether the device may approve for its owner.
 */
export function enrolmentBytes(device: Omit<ScriptKey, 'keyId'> | Omit<Passkey, 'keyId'>): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/device/v1', deviceFields(device));
}
