import { mapHashToField } from '@noble/curves/abstract/modular.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE, concatBytes } from '@noble/curves/utils.js';
import { randomBytes } from '@noble/hashes/utils.js';
import type { Group } from '#mpc/group.ts';
import { type SecretArithmetic, SecretScalar } from '#mpc/secret-scalar.ts';
import { taggedHash } from '#mpc/transcript.ts';

/**
 * The prime-order group of Ed25519 (RFC 8032). noble does the arithmetic: the bytes of a secret
 * scalar become a BigInt for each operation, which is not constant time and cannot be wiped
 * (docs/known-limits.md, Constant time).
 */
export type EdwardsPoint = InstanceType<typeof ed25519.Point>;

const Curve = ed25519.Point;
const SCALAR_BYTES = 32;
/** R and S of RFC 8032. */
const SIGNATURE_BYTES = 64;
/** FIPS 186-5 A.2.1: with this many bits more than the order, the bias is below 2^-128. */
const WIDE_BYTES = 48;

const secretOf = (value: bigint) => new SecretScalar(Curve.Fn.toBytes(Curve.Fn.create(value)));
const valueOf = ({ secretBytes }: SecretScalar) => bytesToNumberLE(secretBytes);

/** Secret scalars: 32 bytes, little-endian. */
const SECRETS: SecretArithmetic = {
  random: () => secretOf(bytesToNumberLE(mapHashToField(randomBytes(WIDE_BYTES), Curve.Fn.ORDER, true))),
  parse: (bytes) => {
    const value = parseScalar(bytes);
    return value === null ? null : secretOf(value);
  },
  reveal: ({ secretBytes }) => secretBytes.slice(),
  of: secretOf,
  multiplyAdd: (a, b, c) => secretOf(valueOf(a) * valueOf(b) + valueOf(c)),
  negate: (scalar) => secretOf(-valueOf(scalar)),
  isZero: ({ secretBytes }) => secretBytes.every((byte) => byte === 0),
};

function parseScalar(bytes: Uint8Array): bigint | null {
  if (bytes.length !== SCALAR_BYTES) return null;
  const value = bytesToNumberLE(bytes);
  return value < Curve.Fn.ORDER ? value : null;
}

export const ED25519: Group<EdwardsPoint> = {
  generator: Curve.BASE,
  order: Curve.Fn.ORDER,
  secrets: SECRETS,
  multiplyGenerator: (scalar) => Curve.BASE.multiply(valueOf(scalar)),
  multiplyPublic: (point, scalar) => point.multiplyUnsafe(scalar),
  pointBytes: 32,
  parsePoint,
  encodePoint: (point) => point.toBytes(),
  parseScalar,
  encodeScalar: (value) => Curve.Fn.toBytes(value),
  // 512 bits for an order of 253 bits, reduced once, leave a negligible bias.
  hashToScalar: (tag, ...parts) =>
    Curve.Fn.create(
      bytesToNumberLE(concatBytes(taggedHash(`${tag}/low`, ...parts), taggedHash(`${tag}/high`, ...parts))),
    ),
};

/**
 * Parses 32 bytes as RFC 8032 encodes a point, with y below p (ZIP 215 would accept more than one
 * spelling) and without a component of small order: the cofactor is 8, and a share or a nonce with
 * such a component leaks bits of its factor.
 */
function parsePoint(bytes: Uint8Array): EdwardsPoint | null {
  if (bytes.length !== 32) return null;
  try {
    const point = Curve.fromBytes(bytes);
    return point.is0() || !point.isTorsionFree() ? null : point;
  } catch {
    return null;
  }
}

const KEYS = new WeakMap<Uint8Array, Promise<CryptoKey>>();

/**
 * Reports whether a signature is valid by RFC 8032. Web Crypto verifies it: it belongs to the
 * runtime, shares no code with the signing, and takes an eighth of the time. A key is imported once
 * for each byte array that callers pass.
 */
export async function verifyEd25519(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): Promise<boolean> {
  // Node returns false for any other length, and workerd throws.
  if (signature.length !== SIGNATURE_BYTES) return false;
  const key =
    KEYS.get(publicKey) ?? crypto.subtle.importKey('raw', Uint8Array.from(publicKey), 'Ed25519', false, ['verify']);
  KEYS.set(publicKey, key);
  return crypto.subtle.verify('Ed25519', await key, Uint8Array.from(signature), Uint8Array.from(message));
}
