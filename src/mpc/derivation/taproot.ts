import { schnorr } from '@noble/curves/secp256k1.js';
import { bytesToNumberBE } from '@noble/curves/utils.js';
import { ORDER } from '#curve/scalar.ts';
import { GENERATOR, parsePoint, type Point, SECRETS } from '#mpc/secp256k1.ts';
import { addSecrets, type SecretScalar } from '#mpc/secret-scalar.ts';

/**
 * The tweak of BIP-341 on an internal key (section "Constructing and spending Taproot outputs", and
 * BIP-86 for a key without a script): "Q = P + int(hashTapTweak(bytes(P)))G", where P is the point
 * with an even y of its x. A share changes by the same steps in the scalars: both are affine, so t
 * shares of P give t shares of Q.
 */
export interface Taproot {
  /** True when P has an odd y: every share and public share changes its sign. */
  readonly isNegated: boolean;
  readonly tweak: bigint;
}

/**
 * Throws for bytes that are not a key, and for a hash that is not a scalar ("If t >= order, fail"),
 * which has a negligible probability.
 */
export function taprootOf(internalKey: Uint8Array): Taproot {
  const point = parsePoint(internalKey);
  if (point === null) throw new Error('an internal key is not a point');
  const tweak = bytesToNumberBE(schnorr.utils.taggedHash('TapTweak', internalKey.subarray(1)));
  if (tweak >= ORDER) throw new Error('the taproot tweak is no scalar');
  return { isNegated: internalKey[0] === 3, tweak };
}

export function tweakPoint({ isNegated, tweak }: Taproot, point: Point): Point {
  return (isNegated ? point.negate() : point).add(GENERATOR.multiplyPublic(tweak));
}

export function tweakScalar({ isNegated, tweak }: Taproot, scalar: SecretScalar): SecretScalar {
  return addSecrets(SECRETS, isNegated ? SECRETS.negate(scalar) : scalar, SECRETS.of(tweak));
}
