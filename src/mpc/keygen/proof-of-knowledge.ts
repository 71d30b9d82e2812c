import { concatBytes } from '@noble/hashes/utils.js';
import type { Group, GroupPoint } from '#mpc/group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';

const SCALAR_BYTES = 32;

/** Returns the length of a proof in bytes: commitment and response. */
export function proofBytes<P extends GroupPoint<P>>({ pointBytes }: Group<P>): number {
  return pointBytes + SCALAR_BYTES;
}

/**
 * The context of a proof, bound into the challenge: a proof is invalid in another session or from
 * another party.
 */
export interface ProofContext<P extends GroupPoint<P>> {
  readonly group: Group<P>;
  readonly sid: Uint8Array;
  readonly prover: PartyIndex;
}

/**
 * Returns Schnorr's proof of knowledge of the logarithm of `secret * G` (Fiat-Shamir): R = kG, z =
 * k + c secret.
 */
export function proveKnowledge<P extends GroupPoint<P>>(context: ProofContext<P>, secret: SecretScalar): Uint8Array {
  const { secrets, multiplyGenerator, encodePoint } = context.group;
  const nonce = secrets.random();
  const commitment = encodePoint(multiplyGenerator(nonce));
  const challenge = secrets.of(challengeOf(context, multiplyGenerator(secret), commitment));
  const response = secrets.multiplyAdd(challenge, secret, nonce);
  nonce.wipe();
  return concatBytes(commitment, secrets.reveal(response));
}

/** Reports whether zG = R + c P. Returns false for anything malformed. */
export function verifyKnowledge<P extends GroupPoint<P>>(
  context: ProofContext<P>,
  point: P,
  proof: Uint8Array,
): boolean {
  const { group } = context;
  if (proof.length !== proofBytes(group)) return false;
  const encoded = proof.subarray(0, group.pointBytes);
  const commitment = group.parsePoint(encoded);
  const response = group.parseScalar(proof.subarray(group.pointBytes));
  if (commitment === null || response === null || response === 0n) return false;
  const challenge = challengeOf(context, point, encoded);
  if (challenge === 0n) return false;
  const { generator, multiplyPublic } = group;
  return multiplyPublic(generator, response).equals(commitment.add(multiplyPublic(point, challenge)));
}

function challengeOf<P extends GroupPoint<P>>(
  { group, sid, prover }: ProofContext<P>,
  point: P,
  commitment: Uint8Array,
): bigint {
  return group.hashToScalar('keygen/proof', sid, Uint8Array.of(prover), group.encodePoint(point), commitment);
}
