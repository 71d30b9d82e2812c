/** An element of a group of prime order, as the protocols use it; noble's points are such. */
export interface GroupPoint<P> {
  add(other: P): P;
  equals(other: P): boolean;
  is0(): boolean;
  /** For secrets; of 1 to the order less one. */
  multiply(scalar: bigint): P;
  /** For what everybody may know: takes a time that depends on the scalar. */
  multiplyUnsafe(scalar: bigint): P;
}

/**
 * The group that a key lives in, with one strict door for each thing that comes from outside: a parser answers null for everything but
 * the one canonical encoding. Scalars have 32 bytes in both groups, in the byte order of their standard.
 */
export interface Group<P extends GroupPoint<P>> {
  readonly generator: P;
  readonly order: bigint;
  readonly pointBytes: number;
  /** On the curve, in the subgroup of prime order, and not the identity; else null. */
  readonly parsePoint: (bytes: Uint8Array) => P | null;
  readonly encodePoint: (point: P) => Uint8Array;
  /** Below the order; else null. */
  readonly parseScalar: (bytes: Uint8Array) => bigint | null;
  readonly encodeScalar: (value: bigint) => Uint8Array;
  /** Uniform in 1 to the order less one. */
  readonly randomScalar: () => bigint;
  /** A random oracle onto the scalars, one for each tag. */
  readonly hashToScalar: (tag: string, ...parts: readonly Uint8Array[]) => bigint;
}
