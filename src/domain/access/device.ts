import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { DeviceKeyId, UserId } from '#domain/id.ts';

/** `ed25519` is RFC 8032, for scripts; `webauthn-p256` a passkey: ES256 of Web Authentication Level 2, for people. */
export const DEVICE_ALGORITHMS = ['ed25519', 'webauthn-p256'] as const;

interface DeviceKey {
  /** Names the public key (`deviceKeyId`). */
  readonly keyId: DeviceKeyId;
  readonly userId: UserId;
  /** Lower-case hex: 32 bytes of Ed25519, 33 of a point of P-256. */
  readonly publicKey: string;
}

interface ScriptKey extends DeviceKey {
  readonly algorithm: 'ed25519';
}

/** What an authenticator holds for one site. */
export interface Passkey extends DeviceKey {
  readonly algorithm: 'webauthn-p256';
  /** What a browser asks the authenticator for, in base64url. */
  readonly credentialId: string;
  /** The domain that the authenticator knows: the host of the origin, or one above it. */
  readonly rpId: string;
  /** The one page address, as `https://vaults.example.com`, from which it signs. */
  readonly origin: string;
}

/** What a person signs approvals with, so that nobody else's word is needed for them. */
export type Device = ScriptKey | Passkey;

/** A digest, signed by a device. Everything but the name is base64url without padding. */
export interface DeviceSignature {
  readonly keyId: DeviceKeyId;
  /** Of Ed25519 64 bytes, over the 32 bytes of the digest; of a passkey DER. */
  readonly signature: string;
  /** What browser and authenticator have signed in place of the digest, which is their challenge; null for a script. */
  readonly assertion: { readonly authenticatorData: string; readonly clientDataJson: string } | null;
}

/** More than a person has in the pocket, on the desk and in a safe would be nobody's any more; every co-signer reads all of them. */
export const MAX_DEVICES = 100;

/** In the one order that a policy has them in. */
export function sortedByKeyId(devices: readonly Device[]): readonly Device[] {
  return devices.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
}

/**
 * What makes a voice count: in `token` mode a signer's token or session, which is the coordinator's word; in `device` mode the signature
 * of a device of that signer's, which each co-signer checks by itself.
 */
export const APPROVAL_MODES = ['token', 'device'] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** What names a device in a policy, besides its owner. */
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

/** The bytes whose SHA-256 a device signs to show that its owner has it, before anybody is asked to let it speak for that person. */
export function enrolmentBytes(device: Omit<ScriptKey, 'keyId'> | Omit<Passkey, 'keyId'>): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/device/v1', deviceFields(device));
}
