/**
 * A scalar that must stay secret: a share, a nonce, a mask. It is a type of its own, so that it
 * cannot be passed to arithmetic that takes a time that depends on it, which takes `bigint`. Only
 * the groups read its bytes (`SecretArithmetic`).
 */
export class SecretScalar {
  readonly #bytes: Uint8Array;

  /** @param bytes 32, below the order, in the byte order of the group. The object owns them. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Returns the bytes themselves, for the arithmetic of the group alone. */
  get secretBytes(): Uint8Array {
    return this.#bytes;
  }

  /** Overwrites the scalar when its last use is over. */
  wipe(): void {
    this.#bytes.fill(0);
  }
}

/** The arithmetic of a group on secret scalars, modulo its order. */
export interface SecretArithmetic {
  /** Uniform in 1 to the order less one. */
  readonly random: () => SecretScalar;
  /** Returns a scalar below the order; else null. */
  readonly parse: (bytes: Uint8Array) => SecretScalar | null;
  /**
   * Returns a copy of the bytes, to seal them, or to send a value that is public from then on, such
   * as a part of a signature.
   */
  readonly reveal: (scalar: SecretScalar) => Uint8Array;
  /** Returns a public scalar as an operand. */
  readonly of: (scalar: bigint) => SecretScalar;
  /** Returns a b + c. */
  readonly multiplyAdd: (a: SecretScalar, b: SecretScalar, c: SecretScalar) => SecretScalar;
  readonly negate: (scalar: SecretScalar) => SecretScalar;
  readonly isZero: (scalar: SecretScalar) => boolean;
}

/** Returns a + b. */
export function addSecrets(arithmetic: SecretArithmetic, a: SecretScalar, b: SecretScalar): SecretScalar {
  return arithmetic.multiplyAdd(a, arithmetic.of(1n), b);
}

/** Returns the sum of all. */
export function sumSecrets(arithmetic: SecretArithmetic, values: readonly SecretScalar[]): SecretScalar {
  return values.reduce((sum, value) => addSecrets(arithmetic, sum, value), arithmetic.of(0n));
}

/** Returns a b. */
export function multiplySecrets(arithmetic: SecretArithmetic, a: SecretScalar, b: SecretScalar): SecretScalar {
  return arithmetic.multiplyAdd(a, b, arithmetic.of(0n));
}
