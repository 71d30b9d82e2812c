import { invert } from '@noble/curves/abstract/modular.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { bigEndian, encodeScalar, modOrder, ORDER, parseScalar } from '#curve/scalar.ts';
import { combinePublic, parseCompressed, POINT_LENGTH } from '#curve/secp256k1.ts';

/** Verification of whole signatures. All inputs are public. */

const COORDINATE_BYTES = 32;
const IDENTITY = new Uint8Array(POINT_LENGTH);

/** An ECDSA signature: two scalars of 32 bytes, big-endian, and the parity of the nonce point. */
interface RecoverableSignature {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  readonly yParity: 0 | 1;
}

/**
 * Returns the key that signed a digest of 32 bytes (SEC 1, section 4.1.6), x and y: "Q = r^-1 (sR -
 * eG)". It returns null for scalars outside 1 to n - 1, for a high s (BIP-62, EIP-2), and for an r
 * that is the x of no point.
 */
export function signerOf(digest: Uint8Array, { r, s, yParity }: RecoverableSignature): Uint8Array | null {
  const [first, second, e] = [parseScalar(r), parseScalar(s), digestScalar(digest)];
  if (first === null || second === null || first === 0n || second === 0n || second > ORDER >> 1n) return null;
  const nonce = parseCompressed(concatBytes(Uint8Array.of(2 + yParity), r));
  if (nonce === null) return null;
  const inverse = invert(first, ORDER);
  const factors = [second * inverse, -e * inverse].map((factor) => encodeScalar(modOrder(factor)));
  const key = combinePublic(nonce, factors[0] ?? IDENTITY, factors[1] ?? IDENTITY);
  return isIdentity(key) ? null : key;
}

/**
 * Verifies a signature of 64 bytes by BIP-340 (Verification): "R = s⋅G - e⋅P", which must have an
 * even y and the x of the signature.
 *
 * @param key the x of the public key, 32 bytes
 */
export function verifiesBip340(signature: Uint8Array, message: Uint8Array, key: Uint8Array): boolean {
  if (signature.length !== 2 * COORDINATE_BYTES || key.length !== COORDINATE_BYTES) return false;
  const [x, s] = [signature.subarray(0, COORDINATE_BYTES), parseScalar(signature.subarray(COORDINATE_BYTES))];
  const point = parseCompressed(concatBytes(Uint8Array.of(2), key));
  if (s === null || point === null) return false;
  const e = digestScalar(sha256(concatBytes(BIP340_TAG, BIP340_TAG, x, key, message)));
  const nonce = combinePublic(point, encodeScalar(modOrder(-e)), encodeScalar(s));
  const isEven = ((nonce[POINT_LENGTH - 1] ?? 1) & 1) === 0;
  return isEven && !isIdentity(nonce) && x.every((byte, i) => byte === nonce[i]);
}

const BIP340_TAG = sha256(utf8ToBytes('BIP0340/challenge'));

/** Returns the 33 bytes of a point. */
export function compressed(point: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(2 + ((point[POINT_LENGTH - 1] ?? 0) & 1)), point.subarray(0, COORDINATE_BYTES));
}

function digestScalar(digest: Uint8Array): bigint {
  return modOrder(bigEndian(digest));
}

function isIdentity(point: Uint8Array): boolean {
  return point.every((byte) => byte === 0);
}
