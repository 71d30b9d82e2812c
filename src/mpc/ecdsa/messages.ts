import { concatBytes } from '@noble/hashes/utils.js';
import { ByteReader, wireBytes } from '#mpc/ecdsa/byte-reader.ts';
import type { ExtensionMessage } from '#mpc/ecdsa/ot-extension.ts';
import {
  CHECK_BITS,
  CHECKS,
  ELEMENT_BYTES,
  EXTENDED_INSTANCES,
  LANES,
  OT_INSTANCES,
  WIDTH,
} from '#mpc/ecdsa/parameters.ts';
import { WORDS } from '#mpc/ecdsa/scalar-words.ts';
import type { Reply } from '#mpc/ecdsa/vole.ts';
import { parseScalar, SCALAR_BYTES } from '#curve/scalar.ts';
import { areScalars } from '#curve/vectors.ts';
import { parsePoint, type Point, POINT_BYTES, SECRETS } from '#mpc/secp256k1.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';
import { DIGEST_BYTES } from '#mpc/transcript.ts';

/**
 * The bytes of each message: fixed fields in a fixed order, without lengths and options. A decoder
 * returns null for any other length, for a point that is not on the curve or is the identity, and
 * for a scalar that is not below n. (A vector of the wrong length raised the threshold in one
 * implementation and froze another: mpcsec.pages.dev.)
 */
export const SALT_BYTES = 32;

export interface Round1Message {
  readonly context: Uint8Array;
  readonly commitment: Uint8Array;
  readonly extension: ExtensionMessage;
}

export interface Round2Message {
  readonly context: Uint8Array;
  readonly echo: Uint8Array;
  readonly salt: Uint8Array;
  readonly encodedR: Uint8Array;
  readonly R: Point;
  readonly gammaU: Point;
  readonly gammaV: Point;
  readonly publicShare: Point;
  readonly psi: SecretScalar;
  readonly reply: Reply;
}

export interface PartialSignature {
  readonly encodedR: Uint8Array;
  readonly R: Point;
  readonly u: bigint;
  readonly w: bigint;
}

const U_WORDS = EXTENDED_INSTANCES * LANES;
const T_WORDS = CHECK_BITS * LANES;
const TAU_WORDS = OT_INSTANCES * WIDTH * WORDS;

/** 32 context | 32 commitment | 9984 u | 26 x | 3328 t */
export const ROUND1_BYTES = 2 * DIGEST_BYTES + 4 * U_WORDS + ELEMENT_BYTES + 4 * T_WORDS;

/**
 * 32 context | 32 echo | 32 salt | 33 R | 33 Gamma_u | 33 Gamma_v | 33 pk | 32 psi | 53248 tau | 2
 * x 32 eta | 32 mu
 */
export const ROUND2_BYTES =
  3 * DIGEST_BYTES + SALT_BYTES + 4 * POINT_BYTES + (1 + CHECKS) * SCALAR_BYTES + 4 * TAU_WORDS;

/** 33 R | 32 u | 32 w */
export const PARTIAL_BYTES = POINT_BYTES + 2 * SCALAR_BYTES;

export function encodeRound1({ context, commitment, extension }: Round1Message): Uint8Array {
  return concatBytes(context, commitment, wireBytes(extension.u), extension.x, wireBytes(extension.t));
}

export function decodeRound1(bytes: Uint8Array): Round1Message | null {
  if (bytes.length !== ROUND1_BYTES) return null;
  const reader = new ByteReader(bytes);
  const context = reader.bytes(DIGEST_BYTES);
  const commitment = reader.bytes(DIGEST_BYTES);
  const extension = { u: reader.words(U_WORDS), x: reader.bytes(ELEMENT_BYTES), t: reader.words(T_WORDS) };
  return { context, commitment, extension };
}

/**
 * The fields that a signer sends equally to every peer, already encoded, and those for one peer.
 */
export interface Round2Fields {
  readonly context: Uint8Array;
  readonly echo: Uint8Array;
  readonly salt: Uint8Array;
  /** R, Gamma_u, Gamma_v, pk. */
  readonly points: readonly Uint8Array[];
  readonly psi: SecretScalar;
  readonly reply: Reply;
}

export function encodeRound2({ context, echo, salt, points, psi, reply }: Round2Fields): Uint8Array {
  const { tau, eta, mu } = reply;
  const tauBytes = new Uint8Array(tau.buffer, tau.byteOffset, tau.byteLength);
  return concatBytes(context, echo, salt, ...points, SECRETS.reveal(psi), tauBytes, ...eta.map(SECRETS.reveal), mu);
}

export function decodeRound2(bytes: Uint8Array): Round2Message | null {
  if (bytes.length !== ROUND2_BYTES) return null;
  const reader = new ByteReader(bytes);
  const context = reader.bytes(DIGEST_BYTES);
  const echo = reader.bytes(DIGEST_BYTES);
  const salt = reader.bytes(SALT_BYTES);
  const encodedR = reader.bytes(POINT_BYTES);
  const R = parsePoint(encodedR);
  const gammaU = parsePoint(reader.bytes(POINT_BYTES));
  const gammaV = parsePoint(reader.bytes(POINT_BYTES));
  const publicShare = parsePoint(reader.bytes(POINT_BYTES));
  const psi = SECRETS.parse(reader.bytes(SCALAR_BYTES));
  const tau = new Uint32Array(reader.words(TAU_WORDS).buffer);
  const eta = [SECRETS.parse(reader.bytes(SCALAR_BYTES)), SECRETS.parse(reader.bytes(SCALAR_BYTES))];
  const mu = reader.bytes(DIGEST_BYTES);
  if (R === null || gammaU === null || gammaV === null || publicShare === null || psi === null) return null;
  if (!eta.every((value) => value !== null) || !areScalars(tau)) return null;
  return { context, echo, salt, encodedR, R, gammaU, gammaV, publicShare, psi, reply: { tau, eta, mu } };
}

/** Both parts are public from now on. */
export function encodePartial(encodedR: Uint8Array, u: SecretScalar, w: SecretScalar): Uint8Array {
  return concatBytes(encodedR, SECRETS.reveal(u), SECRETS.reveal(w));
}

export function decodePartial(bytes: Uint8Array): PartialSignature | null {
  if (bytes.length !== PARTIAL_BYTES) return null;
  const reader = new ByteReader(bytes);
  const encodedR = reader.bytes(POINT_BYTES);
  const R = parsePoint(encodedR);
  const u = parseScalar(reader.bytes(SCALAR_BYTES));
  const w = parseScalar(reader.bytes(SCALAR_BYTES));
  return R === null || u === null || w === null ? null : { encodedR, R, u, w };
}
