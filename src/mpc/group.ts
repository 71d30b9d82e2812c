/** An element of a group of prime order, as the protocols use it. noble's points implement it. */
export interface GroupPoint<P> {
  add(other: P): P;
  equals(other: P): boolean;
  is0(): boolean;
  /** For secrets. The scalar is from 1 to the order less one. */
  multiply(scalar: bigint): P;
  /** For public values: its time depends on the scalar. */
  multiplyUnsafe(scalar: bigint): P;
}

/**
 * The group of a key, with one strict parser for each kind of external input: it returns null for
 * everything but the one canonical encoding. Scalars have 32 bytes in both groups, in the byte
 * order of their standard.
 */
export interface Group<P extends GroupPoint<P>> {
  readonly generator: P;
  readonly order: bigint;
  readonly pointBytes: number;
  /**
   * Returns a point that is on the curve, in the subgroup of prime order, and not the identity;
   * else null.
   */
  readonly parsePoint: (bytes: Uint8Array) => P | null;
  readonly encodePoint: (point: P) => Uint8Array;
  /** Returns a scalar below the order; else null. */
  readonly parseScalar: (bytes: Uint8Array) => bigint | null;
  readonly encodeScalar: (value: bigint) => Uint8Array;
  /** Uniform in 1 to the order less one. */
  readonly randomScalar: () => bigint;
  /** A random oracle onto the scalars, one for each tag. */
  readonly hashToScalar: (tag: string, ...parts: readonly Uint8Array[]) => bigint;
}
