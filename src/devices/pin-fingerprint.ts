import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import { pinBytes } from '#domain/access/cosigner-pin.ts';

/**
 * 80 bits: finding other keys with the same fingerprint takes 2^80 attempts, and five groups of
 * four digits can be read out over a telephone.
 */
const FINGERPRINT_BYTES = 10;

/**
 * Returns the fingerprint of the identity keys of all co-signers, such as
 * `3f0a-91c2-77de-0b14-aa05`: the first 80 bits of the SHA-256 of `pinBytes`, in hex.
 */
export function fingerprintOf(pins: readonly CosignerPin[]): string {
  const digits = bytesToHex(sha256(pinBytes(pins)).subarray(0, FINGERPRINT_BYTES));
  return (digits.match(/.{4}/g) ?? []).join('-');
}

/**
 * Reports whether a signer entered the whole fingerprint of these keys, with or without separators.
 */
export function isFingerprintOf(entered: string, pins: readonly CosignerPin[]): boolean {
  const digits = (text: string) => text.toLowerCase().replaceAll(/[\s:-]/g, '');
  return digits(entered) === digits(fingerprintOf(pins));
}
