import { mulAddUnsafe } from '@noble/curves/abstract/curve.js';
import { expand_message_xmd } from '@noble/curves/abstract/hash-to-curve.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1_hasher } from '@noble/curves/secp256k1.js';
import { bytesToNumberLE, concatBytes } from '@noble/curves/utils.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { ED25519 } from '#mpc/ed25519.ts';
import type { FrostScheme } from '#mpc/frost/suite.ts';
import { encodeScalar } from '#curve/scalar.ts';
import { encodePoint, parsePoint, type Point, secretFromWide } from '#mpc/secp256k1.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';

/**
 * Context strings, which begin every hash of a ciphersuite, as in noble. The second is that of the
 * Zcash Foundation's frost-secp256k1-tr.
 */
const ED25519_SUITE = 'FROST-ED25519-SHA512-v1';
const TAPROOT_SUITE = 'FROST-secp256k1-SHA256-TR-v1';

/**
 * The group of a ciphersuite, and its functions, RFC 9591 section 6: H1 and H3 onto the scalars, H4
 * and H5 onto bytes.
 */
export interface Ciphersuite<P> {
  /** Throws for bytes that are not a point. */
  readonly parse: (bytes: Uint8Array) => P;
  /** Reports whether a parsed point is an element of the group, and not the identity. */
  readonly isElement: (point: P) => boolean;
  /** Returns the sum of the first points and of each second one times its factor, encoded. */
  readonly sum: (pairs: readonly { readonly hiding: P; readonly binding: P; readonly factor: bigint }[]) => Uint8Array;
  /** SerializeScalar. */
  readonly encodeScalar: (scalar: bigint) => Uint8Array;
  readonly h1: (bytes: Uint8Array) => bigint;
  /** For nonces: its result is secret. */
  readonly h3: (bytes: Uint8Array) => SecretScalar;
  readonly h4: (bytes: Uint8Array) => Uint8Array;
  readonly h5: (bytes: Uint8Array) => Uint8Array;
}

export const EDWARDS: Ciphersuite<InstanceType<typeof ed25519.Point>> = {
  parse: (bytes) => ed25519.Point.fromBytes(bytes),
  isElement: (point) => !point.is0() && point.isTorsionFree(),
  sum: (pairs) => {
    const [points, factors] = [pairs.map(({ binding }) => binding), pairs.map(({ factor }) => factor)];
    const products = mulAddUnsafe(ed25519.Point, points, factors);
    return pairs.reduce((total, { hiding }) => total.add(hiding), products).toBytes();
  },
  encodeScalar: ED25519.encodeScalar,
  h1: (bytes) => ed25519.Point.Fn.create(bytesToNumberLE(sha512(prefixed(ED25519_SUITE, 'rho', bytes)))),
  h3: (bytes) => ED25519.secrets.of(bytesToNumberLE(sha512(prefixed(ED25519_SUITE, 'nonce', bytes)))),
  h4: (bytes) => sha512(prefixed(ED25519_SUITE, 'msg', bytes)),
  h5: (bytes) => sha512(prefixed(ED25519_SUITE, 'com', bytes)),
};

export const TAPROOT: Ciphersuite<Point> = {
  // Every point of the curve is of prime order, and the identity has no encoding.
  parse: (bytes) => parsePoint(bytes) ?? notAPoint(),
  isElement: () => true,
  sum: (pairs) => {
    const terms = pairs.map(({ hiding, binding, factor }) => hiding.add(binding.multiplyPublic(factor)));
    return encodePoint(terms.reduce((total, term) => total.add(term)));
  },
  encodeScalar,
  h1: (bytes) => secp256k1_hasher.hashToScalar(bytes, { DST: `${TAPROOT_SUITE}rho` }),
  // hash_to_field of RFC 9380, section 5.2, for one element of 48 bytes.
  h3: (bytes) => secretFromWide(expand_message_xmd(bytes, utf8ToBytes(`${TAPROOT_SUITE}nonce`), 48, sha256)),
  h4: (bytes) => sha256(prefixed(TAPROOT_SUITE, 'msg', bytes)),
  h5: (bytes) => sha256(prefixed(TAPROOT_SUITE, 'com', bytes)),
};

function notAPoint(): never {
  throw new Error('a commitment is no point');
}

function prefixed(suite: string, label: string, bytes: Uint8Array): Uint8Array {
  return concatBytes(utf8ToBytes(`${suite}${label}`), bytes);
}

/** H3 of the ciphersuite of a scheme. */
export function nonceFrom(scheme: FrostScheme, bytes: Uint8Array): SecretScalar {
  return scheme === 'frost-ed25519' ? EDWARDS.h3(bytes) : TAPROOT.h3(bytes);
}
