import type { SecretArithmetic, SecretScalar } from '#mpc/secret-scalar.ts';

/** An element of a group of prime order, as the protocols use it. noble's points implement it. */
export interface GroupPoint<P> {
  add(other: P): P;
  equals(other: P): boolean;
  is0(): boolean;
}

/**
 * The group of a key, with one strict parser for each kind of external input: it returns null for
 * everything but the one canonical encoding. Scalars have 32 bytes in both groups, in the byte
 * order of their standard.
 */
export interface Group<P extends GroupPoint<P>> {
  readonly generator: P;
  readonly order: bigint;
  /** Secret scalars. Public ones are `bigint`. */
  readonly secrets: SecretArithmetic;
  readonly multiplyGenerator: (scalar: SecretScalar) => P;
  /** For public values: its time depends on the scalar, which is from 0 to the order less one. */
  readonly multiplyPublic: (point: P, scalar: bigint) => P;
  readonly pointBytes: number;
  /**
   * Returns a point that is on the curve, in the subgroup of prime order, and not the identity;
   * else null.
   */
  readonly parsePoint: (bytes: Uint8Array) => P | null;
  readonly encodePoint: (point: P) => Uint8Array;
  /** Returns a public scalar below the order; else null. */
  readonly parseScalar: (bytes: Uint8Array) => bigint | null;
  readonly encodeScalar: (value: bigint) => Uint8Array;
  /** A random oracle onto the public scalars, one for each tag. */
  readonly hashToScalar: (tag: string, ...parts: readonly Uint8Array[]) => bigint;
}
