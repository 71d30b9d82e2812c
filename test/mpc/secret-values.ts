import { WORDS } from '#mpc/ecdsa/scalar-words.ts';
import { ORDER, parseScalar } from '#curve/scalar.ts';
import { SECRETS } from '#mpc/secp256k1.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';

/** Secret scalars of secp256k1 as numbers, for tests alone. */

/** Scalars at the edges of words, of halves and of the order. */
export const CORNERS = [
  0n,
  1n,
  2n,
  (1n << 32n) - 1n,
  1n << 32n,
  (1n << 128n) - 1n,
  1n << 255n,
  ORDER - (1n << 128n),
  ORDER - 2n,
  ORDER - 1n,
];

export function valueOf(secret: SecretScalar): bigint {
  return parseScalar(SECRETS.reveal(secret)) ?? notAScalar();
}

/** Returns a number from 1 to the order less one. */
export function randomScalar(): bigint {
  return valueOf(SECRETS.random());
}

/** Returns the scalar whose eight words begin at `at`, the least significant first. */
export function scalarAt(words: Uint32Array, at: number): bigint {
  return words.subarray(at, at + WORDS).reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
}

function notAScalar(): never {
  throw new Error('a secret scalar is below the order');
}
