import type { Nonces } from '@noble/curves/abstract/frost.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { SingleUse } from '#mpc/single-use.ts';
import type { FrostShare } from '#mpc/frost/suite.ts';
import { secretPackage, suiteOf } from '#mpc/frost/suite.ts';
import type { PartyIndex } from '#mpc/party.ts';

/** One signature by one signer. All of it is our own node's data; the message is fixed before a nonce is drawn. */
export interface FrostSession {
  /** Of the very key that the signature is under: derived and tweaked already. */
  readonly share: FrostShare;
  /** Sorted, includes the share's own party; as many as the threshold. */
  readonly signers: readonly PartyIndex[];
  /** What a verifier will be given. */
  readonly message: Uint8Array;
}

interface AfterCommit {
  readonly session: FrostSession;
  readonly nonces: Nonces;
  /** The own commitments, encoded: hiding, binding. */
  readonly commitments: Uint8Array;
}

/** Memory only, single use: one nonce with two messages is the share. */
export type CommitState = SingleUse<AfterCommit>;

/**
 * RFC 9591 section 5.1, Round One - Commitment: "each participant generates nonces and their corresponding public commitments". A nonce is
 * a hash of fresh bytes and the share (section 4.1), so that a weak source alone does not repeat one.
 *
 * Throws on a session that is not sound.
 */
export function commitToNonces(session: FrostSession): { readonly state: CommitState; readonly message: Uint8Array } {
  const { share, signers } = session;
  const ascending = signers.every((signer, i) => i === 0 || (signers[i - 1] ?? signer) < signer);
  if (!ascending || !signers.includes(share.self)) throw new Error('signers are sorted, distinct, and include self');
  if (signers.length !== share.threshold) throw new Error('as many sign as the threshold says');
  const suite = suiteOf(share.scheme);
  const { nonces, commitments } = suite.frost.commit(secretPackage(suite, share));
  const message = concatBytes(commitments.hiding, commitments.binding);
  // Each has its own: what is done to the message on its way changes nothing of what this node takes for its own.
  return { state: new SingleUse({ session, nonces, commitments: message.slice() }), message };
}
