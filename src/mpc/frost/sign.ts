import { concatBytes } from '@noble/hashes/utils.js';
import { abortedBy, completed, type RoundResult } from '#mpc/abort.ts';
import type { CommitState } from '#mpc/frost/commit.ts';
import { commitmentList, malformedAmong, secretPackage, signingPackage, suiteOf } from '#mpc/frost/suite.ts';
import type { PartyIndex } from '#mpc/party.ts';

/**
 * RFC 9591 section 5.2, Round Two - Signature Share Generation: "each participant is responsible for sending a signature share". Gives the
 * share (32 bytes) and, after it, the commitments of every signer as this one saw them: whoever told two signers two things would else
 * have an honest one look like a cheater.
 *
 * Refuses: commitments that are missing or not two points of the group (their sender).
 */
export function signShare(state: CommitState, inbox: ReadonlyMap<PartyIndex, Uint8Array>): RoundResult<Uint8Array> {
  const { session, nonces, commitments } = state.take();
  const { share, signers, message } = session;
  const suite = suiteOf(share.scheme);
  const all = new Map<PartyIndex, Uint8Array>();
  for (const signer of signers) {
    const theirs = signer === share.self ? commitments : inbox.get(signer);
    if (theirs?.length !== 2 * suite.pointBytes) return abortedBy(signer, 'frost-sign/commitments');
    all.set(signer, theirs);
  }
  try {
    const list = commitmentList(suite, all);
    const signed = suite.frost.signShare(secretPackage(suite, share), signingPackage(share), nonces, list, message);
    return completed(concatBytes(signed, ...all.values()));
  } catch (error) {
    const culprit = malformedAmong(share.scheme, all);
    if (culprit === null) throw error;
    return abortedBy(culprit, 'frost-sign/commitments');
  }
}
