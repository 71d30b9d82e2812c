import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';

/** The identity key of a co-signer, as users and policies pin it. */
export interface CosignerPin {
  /** Number of the co-signer, from 1. */
  readonly index: number;
  /** Ed25519 public key, lower-case hex of 32 bytes. */
  readonly signing: string;
}

const MAX_COSIGNERS = 5;

/** Reports whether a list names co-signers 1 to n in order, each with a key of its own. */
export function arePins(pins: readonly CosignerPin[]): boolean {
  const isInOrder = pins.every(({ index }, i) => index === i + 1);
  const areKeys = pins.every(({ signing }) => /^[0-9a-f]{64}$/.test(signing));
  const distinct = new Set(pins.map(({ signing }) => signing)).size === pins.length;
  return pins.length >= 2 && pins.length <= MAX_COSIGNERS && isInOrder && areKeys && distinct;
}

/**
 * Reports whether this many co-signers may sign together: more than half of the pinned ones, so
 * that any two groups share one. Without pins their number is unknown, and it must be possible.
 */
export function isSigningThreshold(threshold: number, pins: readonly CosignerPin[] | undefined): boolean {
  if (!Number.isInteger(threshold) || threshold < 2 || threshold > MAX_COSIGNERS) return false;
  return pins === undefined || (threshold <= pins.length && 2 * threshold > pins.length);
}

/** Returns the pins' part of a policy's canonical bytes. */
export function pinFields(pins: readonly CosignerPin[]): readonly CanonicalField[] {
  return [
    ['cosigners', String(pins.length)],
    ...pins.flatMap(({ index, signing }): CanonicalField[] => [
      ['cosigner', String(index)],
      ['signing', signing],
    ]),
  ];
}

/** Returns the bytes whose SHA-256 gives the fingerprint that people compare. */
export function pinBytes(pins: readonly CosignerPin[]): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/cosigner-pins/v1', pinFields(pins));
}
