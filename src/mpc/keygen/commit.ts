import { concatBytes } from '@noble/hashes/utils.js';
import { SingleUse } from '#mpc/ecdsa/single-use.ts';
import { commitments, type Polynomial, randomPolynomial } from '#mpc/keygen/feldman.ts';
import { proveKnowledge } from '#mpc/keygen/proof-of-knowledge.ts';
import { checkKeygenSession, commitToPackage, type KeygenSession } from '#mpc/keygen/session.ts';
import { encodePoint, freshBytes } from '#mpc/secp256k1.ts';

export interface AfterCommit {
  readonly session: KeygenSession;
  readonly polynomial: Polynomial;
  /** Commitments and proof, encoded. */
  readonly encoded: Uint8Array;
  readonly salt: Uint8Array;
  readonly commitment: Uint8Array;
}

export type CommitState = SingleUse<AfterCommit>;

/**
 * Round 0: every party chooses its polynomial and commits to its public part (Pedersen's key generation in Feldman's form, as
 * FROST's KeyGen round 1 steps 1 to 4, RFC 9591 appendix C), before it sees anybody else's. Without this the last to speak
 * chooses the group key.
 */
export function commit(session: KeygenSession): { readonly state: CommitState; readonly message: Uint8Array } {
  checkKeygenSession(session);
  const polynomial = randomPolynomial(session.threshold);
  const proof = proveKnowledge({ sid: session.sid, prover: session.self }, polynomial[0]!);
  const encoded = concatBytes(...commitments(polynomial).map(encodePoint), proof);
  const salt = freshBytes(32);
  const commitment = commitToPackage(session, session.self, { encoded, salt });
  return { state: new SingleUse({ session, polynomial, encoded, salt, commitment }), message: commitment };
}
