import { concatBytes } from '@noble/hashes/utils.js';
import type { PartyIndex } from '#mpc/party.ts';
import {
  encodePoint,
  encodeScalar,
  GENERATOR,
  modOrder,
  parsePoint,
  parseScalar,
  type Point,
  POINT_BYTES,
  randomScalar,
  SCALAR_BYTES,
  scalarFromDigest,
} from '#mpc/secp256k1.ts';
import { taggedHash } from '#mpc/transcript.ts';

/** Bytes of a proof: commitment and response. */
export const PROOF_BYTES = POINT_BYTES + SCALAR_BYTES;

/** Who proves what, where. Bound into the challenge, so a proof is worth nothing in another session or another mouth. */
export interface ProofContext {
  readonly sid: Uint8Array;
  readonly prover: PartyIndex;
}

/** Schnorr's proof that somebody knows the logarithm of `secret * G` (Fiat-Shamir): R = kG, z = k + c secret. */
export function proveKnowledge(context: ProofContext, secret: bigint): Uint8Array {
  const nonce = randomScalar();
  const commitment = encodePoint(GENERATOR.multiply(nonce));
  const challenge = challengeOf(context, GENERATOR.multiply(secret), commitment);
  return concatBytes(commitment, encodeScalar(modOrder(nonce + challenge * secret)));
}

/** zG = R + c P. False for anything malformed. */
export function knows(context: ProofContext, point: Point, proof: Uint8Array): boolean {
  if (proof.length !== PROOF_BYTES) return false;
  const encoded = proof.subarray(0, POINT_BYTES);
  const commitment = parsePoint(encoded);
  const response = parseScalar(proof.subarray(POINT_BYTES));
  if (commitment === null || response === null || response === 0n) return false;
  const challenge = challengeOf(context, point, encoded);
  if (challenge === 0n) return false;
  return GENERATOR.multiply(response).equals(commitment.add(point.multiplyUnsafe(challenge)));
}

function challengeOf({ sid, prover }: ProofContext, point: Point, commitment: Uint8Array): bigint {
  return scalarFromDigest(taggedHash('keygen/proof', sid, Uint8Array.of(prover), encodePoint(point), commitment));
}
