import { concatBytes } from '@noble/hashes/utils.js';
import { SingleUse } from '#mpc/single-use.ts';
import { commitments, type Polynomial, randomPolynomial } from '#mpc/keygen/feldman.ts';
import { proveKnowledge } from '#mpc/keygen/proof-of-knowledge.ts';
import { checkKeygenSession, commitToPackage, dealersOf, type KeygenSession } from '#mpc/keygen/session.ts';
import type { GroupPoint } from '#mpc/group.ts';
import { freshBytes } from '#mpc/secp256k1.ts';

const NOTHING = new Uint8Array();

export interface AfterCommit<P extends GroupPoint<P>> {
  readonly session: KeygenSession<P>;
  /** Empty when this party does not deal; each of its messages is then empty. */
  readonly polynomial: Polynomial;
  /** Commitments and proof, encoded. */
  readonly encoded: Uint8Array;
  readonly salt: Uint8Array;
  readonly commitment: Uint8Array;
}

export type CommitState<P extends GroupPoint<P>> = SingleUse<AfterCommit<P>>;

/**
 * Round 0: every party chooses its polynomial and commits to its public part (Pedersen's key
 * generation in Feldman's form, as FROST's KeyGen round 1 steps 1 to 4, RFC 9591 appendix C),
 * before it receives any other part. Without this commitment the last party to reveal would choose
 * the group key. In a resharing the constant term is the dealer's part of the key, and no party has
 * a choice.
 */
export function commit<P extends GroupPoint<P>>(
  session: KeygenSession<P>,
): { readonly state: CommitState<P>; readonly message: Uint8Array } {
  checkKeygenSession(session);
  const { group, sid, self, threshold, resharing } = session;
  if (!dealersOf(session).includes(self)) {
    const silent = { session, polynomial: [], encoded: NOTHING, salt: NOTHING, commitment: NOTHING };
    return { state: new SingleUse(silent), message: NOTHING };
  }
  const drawn = randomPolynomial(group, threshold);
  const polynomial = drawn.with(0, resharing?.part ?? drawn[0]!);
  const proof = proveKnowledge({ group, sid, prover: self }, polynomial[0]!);
  const encoded = concatBytes(...commitments(group, polynomial).map(group.encodePoint), proof);
  const salt = freshBytes(32);
  const commitment = commitToPackage(session, self, { encoded, salt });
  return { state: new SingleUse({ session, polynomial, encoded, salt, commitment }), message: commitment };
}
