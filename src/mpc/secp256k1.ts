import { invert } from '@noble/curves/abstract/modular.js';
import { hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { bigEndian, encodeScalar, modOrder, ORDER, parseScalar, SCALAR_BYTES } from '#curve/scalar.ts';
import type { Group, GroupPoint } from '#mpc/group.ts';
import { type SecretArithmetic, SecretScalar } from '#mpc/secret-scalar.ts';
import { equalBytes, taggedHash } from '#mpc/transcript.ts';
import {
  addPoints,
  combinePublic,
  hashToCurve,
  isScalar,
  multiplyAdd,
  multiplyGenerator,
  multiplyPoint,
  negatePoint,
  negateScalar,
  parseCompressed,
  POINT_LENGTH,
  reduceWide,
} from '#curve/secp256k1.ts';

/**
 * Points and scalars of secp256k1 with one strict parser each. A parser returns null for everything
 * but the one canonical encoding. libsecp256k1 does the arithmetic, in constant time for secret
 * scalars (curve/secp256k1.c). Public scalars are BigInt.
 */
export class Point implements GroupPoint<Point> {
  /** x and y, 32 bytes each, big-endian. The identity is all zeros. */
  readonly #affine: Uint8Array;

  private constructor(affine: Uint8Array) {
    this.#affine = affine;
  }

  static readonly ZERO = new Point(new Uint8Array(POINT_LENGTH));
  static readonly GENERATOR = new Point(
    hexToBytes(
      '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798' +
        '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8',
    ),
  );

  /** Parses 33 bytes, compressed; returns null for any other encoding and for the identity. */
  static parse(bytes: Uint8Array): Point | null {
    if (bytes.length !== POINT_BYTES) return null;
    const affine = parseCompressed(bytes);
    return affine === null ? null : new Point(affine);
  }

  /** A random oracle onto the curve: no party knows the logarithm. */
  static ofHash(message: Uint8Array): Point {
    return new Point(hashToCurve(message, HASH_TO_POINT_DST));
  }

  add(other: Point): Point {
    return new Point(addPoints(this.#affine, other.#affine));
  }

  subtract(other: Point): Point {
    return this.add(other.negate());
  }

  negate(): Point {
    return new Point(negatePoint(this.#affine));
  }

  equals(other: Point): boolean {
    return equalBytes(this.#affine, other.#affine);
  }

  is0(): boolean {
    return equalBytes(this.#affine, Point.ZERO.#affine);
  }

  /** Returns a multiple of the generator, in constant time. */
  static multiple(scalar: SecretScalar): Point {
    return new Point(multiplyGenerator(scalar.secretBytes));
  }

  /** In constant time. */
  multiply(scalar: SecretScalar): Point {
    return new Point(multiplyPoint(this.#affine, scalar.secretBytes));
  }

  /** For public values: its time depends on the scalar, which is from 0 to n-1. */
  multiplyPublic(scalar: bigint): Point {
    return this.combine(scalar, 0n);
  }

  /** Returns a P + b G, for public values: its time depends on them. */
  combine(a: bigint, b: bigint): Point {
    return new Point(combinePublic(this.#affine, encodeScalar(a), encodeScalar(b)));
  }

  toAffine(): { readonly x: bigint; readonly y: bigint } {
    return { x: bigEndian(this.#affine.subarray(0, 32)), y: bigEndian(this.#affine.subarray(32)) };
  }

  /** Returns 33 bytes. Throws for the identity, which has no such encoding. */
  toBytes(): Uint8Array {
    if (this.is0()) throw new Error('the identity has no encoding');
    const bytes = new Uint8Array(POINT_BYTES);
    bytes[0] = 2 + (this.#affine[POINT_LENGTH - 1]! & 1);
    bytes.set(this.#affine.subarray(0, SCALAR_BYTES), 1);
    return bytes;
  }
}

export const POINT_BYTES = 33;
export const GENERATOR: Point = Point.GENERATOR;

/** FIPS 186-5 A.2.1: with this many bits more than the order, the bias is below 2^-128. */
const WIDE_BYTES = 48;

/** RFC 9380 needs a DST per use; the parts that separate sessions are in the hashed message. */
const HASH_TO_POINT_DST = utf8ToBytes('conclave/mpc/v1/secp256k1_XMD:SHA-256_SSWU_RO_');

export function invertScalar(value: bigint): bigint {
  return invert(value, ORDER);
}

const ZERO_BYTES = new Uint8Array(SCALAR_BYTES);
const ONE_BYTES = encodeScalar(1n);

/** Secret scalars: 32 bytes, big-endian. libsecp256k1 does their arithmetic in constant time. */
export const SECRETS: SecretArithmetic = {
  // 48 random bytes reduced, FIPS 186-5 A.2.1. Zero has a probability of 2^-256.
  random: () => {
    const drawn = new SecretScalar(reduceWide(randomBytes(WIDE_BYTES)));
    return SECRETS.isZero(drawn) ? SECRETS.random() : drawn;
  },
  parse: (bytes) =>
    bytes.length === SCALAR_BYTES && isScalar(bytes) ? new SecretScalar(Uint8Array.from(bytes)) : null,
  reveal: (scalar) => scalar.secretBytes.slice(),
  of: (scalar) => new SecretScalar(encodeScalar(scalar)),
  multiplyAdd: (a, b, c) => new SecretScalar(multiplyAdd(a.secretBytes, b.secretBytes, c.secretBytes)),
  negate: (scalar) => new SecretScalar(negateScalar(scalar.secretBytes)),
  isZero: (scalar) => equalBytes(scalar.secretBytes, ZERO_BYTES),
};

/**
 * Returns a secret digest as a scalar: 256 bits reduced once. n is within 2^128.4 of 2^256, so the
 * bias is below 2^-127.
 */
export function secretFromDigest(digest: Uint8Array): SecretScalar {
  if (digest.length !== SCALAR_BYTES) throw new Error('a digest does not have 32 bytes');
  return new SecretScalar(multiplyAdd(digest, ONE_BYTES, ZERO_BYTES));
}

/** Returns 48 secret bytes as a scalar (RFC 9380, section 5.3). */
export function secretFromWide(bytes: Uint8Array): SecretScalar {
  return new SecretScalar(reduceWide(bytes));
}

/**
 * Parses 33 bytes, compressed, on the curve, not the identity; else returns null. The order is
 * prime: no subgroup check is needed.
 */
export function parsePoint(bytes: Uint8Array): Point | null {
  return Point.parse(bytes);
}

export function encodePoint(point: Point): Uint8Array {
  return point.toBytes();
}

/**
 * The lambda of the curve's endomorphism: lambda (x, y) = (beta x, y), where both are cube roots of
 * 1.
 */
export const LAMBDA = 0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72n;

/**
 * Returns one of 2^128 different scalars a + b lambda, where a and b have 64 bits each. A product
 * with it takes a quarter of the doublings, since libsecp256k1 splits a public scalar into exactly
 * these halves. (They differ: a + b lambda = 0 has no solution in numbers as short as a - a' and
 * b - b'.)
 */
export function shortWeight(): bigint {
  const [a = 0n, b = 0n] = crypto.getRandomValues(new BigUint64Array(2));
  return modOrder(a + b * LAMBDA);
}

/**
 * Returns a public digest as a scalar: 256 bits reduced once, with a bias below 2^-127, as in
 * `secretFromDigest`.
 */
export function scalarFromDigest(digest: Uint8Array): bigint {
  if (digest.length !== SCALAR_BYTES) throw new Error('a digest does not have 32 bytes');
  return bigEndian(digest) % ORDER;
}

export function freshBytes(length: number): Uint8Array {
  return randomBytes(length);
}

export const SECP256K1: Group<Point> = {
  generator: GENERATOR,
  order: ORDER,
  secrets: SECRETS,
  multiplyGenerator: (scalar) => Point.multiple(scalar),
  multiplyPublic: (point, scalar) => point.multiplyPublic(scalar),
  pointBytes: POINT_BYTES,
  parsePoint,
  encodePoint,
  parseScalar,
  encodeScalar,
  hashToScalar: (tag, ...parts) => scalarFromDigest(taggedHash(tag, ...parts)),
};
