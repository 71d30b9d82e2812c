import { normalizeZ } from '@noble/curves/abstract/curve.js';
import { secp256k1, secp256k1_hasher } from '@noble/curves/secp256k1.js';
import { randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Group } from '#mpc/group.ts';
import { taggedHash } from '#mpc/transcript.ts';

/**
 * Points and scalars of secp256k1 with one strict parser each. A parser returns null for everything
 * but the one canonical encoding; noble does the arithmetic.
 *
 * Scalars are BigInt. BigInt arithmetic is NOT constant time and a BigInt cannot be wiped; noble
 * documents the same limits. All operations that can use masks over typed arrays do so
 * (scalar-words.ts, ot-extension.ts).
 */
export type Point = InstanceType<typeof secp256k1.Point>;

const Curve = secp256k1.Point;
export const GENERATOR: Point = Curve.BASE;
export const ORDER: bigint = Curve.Fn.ORDER;
export const POINT_BYTES = 33;
export const SCALAR_BYTES = 32;

/** RFC 9380 needs a DST per use; the parts that separate sessions are in the hashed message. */
const HASH_TO_POINT_DST = utf8ToBytes('conclave/mpc/v1/secp256k1_XMD:SHA-256_SSWU_RO_');

/** Reduces into 0..n-1, also for negative values. */
export function modOrder(value: bigint): bigint {
  const rest = value % ORDER;
  return rest < 0n ? rest + ORDER : rest;
}

export function invertScalar(value: bigint): bigint {
  return Curve.Fn.inv(value);
}

/** Uniform in 1..n-1 (48 random bytes reduced, FIPS 186-5 A.2.1: bias below 2^-128). */
export function randomScalar(): bigint {
  return Curve.Fn.fromBytes(secp256k1.utils.randomSecretKey());
}

/**
 * Parses 33 bytes, compressed, on the curve, not the identity; else returns null. The order is
 * prime: no subgroup check is needed.
 */
export function parsePoint(bytes: Uint8Array): Point | null {
  if (bytes.length !== POINT_BYTES) return null;
  try {
    return Curve.fromBytes(bytes);
  } catch {
    return null;
  }
}

export function encodePoint(point: Point): Uint8Array {
  return point.toBytes(true);
}

/** Encodes several points with one shared field inversion. */
export function encodePoints(points: readonly Point[]): Uint8Array[] {
  return normalizeZ(Curve, [...points]).map(encodePoint);
}

/**
 * Returns a multiple of the generator, in constant time. A peer may have caused a scalar of 0, for
 * which noble throws.
 */
export function multipleOfGenerator(scalar: bigint): Point {
  const reduced = modOrder(scalar);
  return reduced === 0n ? Curve.ZERO : GENERATOR.multiply(reduced);
}

/**
 * The lambda of the curve's endomorphism: lambda (x, y) = (beta x, y), where both are cube roots of
 * 1.
 */
export const LAMBDA = 0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72n;

/**
 * Returns one of 2^128 different scalars a + b lambda, where a and b have 64 bits each. A product
 * with it takes a quarter of the doublings, since noble splits a scalar into exactly these halves.
 * (They differ: a + b lambda = 0 has no solution in numbers as short as a - a' and b - b'.)
 */
export function shortWeight(): bigint {
  const [a = 0n, b = 0n] = crypto.getRandomValues(new BigUint64Array(2));
  return modOrder(a + b * LAMBDA);
}

/** Parses 32 bytes, big-endian, below n; else returns null. */
export function parseScalar(bytes: Uint8Array): bigint | null {
  if (bytes.length !== SCALAR_BYTES) return null;
  const value = bigEndian(bytes);
  return value < ORDER ? value : null;
}

export function encodeScalar(value: bigint): Uint8Array {
  return Curve.Fn.toBytes(value);
}

/**
 * Returns a digest as a scalar: 256 bits reduced once. n is within 2^128.4 of 2^256, so the bias is
 * below 2^-127.
 */
export function scalarFromDigest(digest: Uint8Array): bigint {
  if (digest.length !== SCALAR_BYTES) throw new Error('a digest has 32 bytes');
  return bigEndian(digest) % ORDER;
}

/**
 * A random oracle onto the curve (RFC 9380, secp256k1_XMD:SHA-256_SSWU_RO_): no party knows the
 * logarithm.
 */
export function hashToPoint(message: Uint8Array): Point {
  return secp256k1_hasher.hashToCurve(message, { DST: HASH_TO_POINT_DST });
}

export function freshBytes(length: number): Uint8Array {
  return randomBytes(length);
}

export const SECP256K1: Group<Point> = {
  generator: GENERATOR,
  order: ORDER,
  pointBytes: POINT_BYTES,
  parsePoint,
  encodePoint,
  parseScalar,
  encodeScalar,
  randomScalar,
  hashToScalar: (tag, ...parts) => scalarFromDigest(taggedHash(tag, ...parts)),
};

function bigEndian(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const high = (view.getBigUint64(0) << 64n) | view.getBigUint64(8);
  return (high << 128n) | (view.getBigUint64(16) << 64n) | view.getBigUint64(24);
}
