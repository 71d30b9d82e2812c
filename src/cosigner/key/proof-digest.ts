import { sha256 } from '@noble/hashes/sha2.js';
import { canonicalBytes } from '#domain/canonical/bytes.ts';

/**
 * Returns the digest whose signature proves a key: SHA-256 of a text in its own domain, which no
 * chain uses.
 */
export function keyProofDigest(keyId: string): Uint8Array {
  return sha256(canonicalBytes('conclave/key-proof/v1', [['keyId', keyId]]));
}
