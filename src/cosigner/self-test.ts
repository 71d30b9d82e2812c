import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { TestedShare } from '#domain/operations/cosigner.ts';

/** What a co-signer found when it opened its share of one key. */
export type ShareTest = Omit<TestedShare, 'keyId'>;

/** What a co-signer states about its settings, for the comparison with the other co-signers. */
export interface SettingsTest {
  /** By its own clock, in Unix milliseconds. */
  readonly clockMs: number;
  /** Hex: a hash of the pinned keys of all co-signers. */
  readonly peers: string;
  /** Hex; null without one. */
  readonly recoveryKey: string | null;
  /** Hex: a fingerprint of each key-encryption secret, the one that seals first. */
  readonly keyEncryption: readonly string[];
  /** Whether the identity secret is used as a key-encryption secret as well. */
  readonly isSecretReused: boolean;
}

/** Returns the settings of this co-signer in a form from which no secret can be computed. */
export function settingsTest(
  { IDENTITY_SECRET }: Pick<CosignerConfig, 'IDENTITY_SECRET'>,
  { signingKeys, exchangeKeys, keyEncryption, recoveryKey }: CosignerSet,
): SettingsTest {
  const pins = [...signingKeys].map(([party, signing]): [string, string] => [
    String(party),
    `${signing} ${exchangeKeys.get(party) ?? ''}`,
  ]);
  return {
    clockMs: Date.now(),
    peers: bytesToHex(sha256(canonicalBytes('conclave/peers/v1', pins))),
    recoveryKey,
    keyEncryption: keyEncryption.map(({ secret }) => fingerprintOf(secret)),
    isSecretReused: keyEncryption.some(({ secret }) => secret === IDENTITY_SECRET),
  };
}

/**
 * Equal secrets have equal fingerprints at every co-signer. The secret is the key of the hash and
 * has 32 random bytes, so half of the hash reveals nothing.
 */
function fingerprintOf(secret: string): string {
  return bytesToHex(hmac(sha256, hexToBytes(secret), utf8ToBytes('conclave/secret-fingerprint/v1'))).slice(0, 32);
}
