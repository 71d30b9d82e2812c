import { concatBytes } from '@noble/hashes/utils.js';
import { abortedBy, completed, type RoundResult } from '#mpc/abort.ts';
import type { CommitState, FrostSession, Nonces } from '#mpc/frost/commit.ts';
import type { BoundCommitments } from '#mpc/frost/group-commitment.ts';
import { bindCommitments } from '#mpc/frost/group-commitment.ts';
import { malformedAmong, suiteOf } from '#mpc/frost/suite.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { lagrangeAtZero } from '#mpc/lagrange.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { addSecrets } from '#mpc/secret-scalar.ts';

/**
 * RFC 9591 section 5.2, Round Two - Signature Share Generation: "each participant is responsible
 * for sending a signature share". Returns the share (32 bytes); the group's commitment that it
 * belongs to (32), so that the coordinator need not compute it again; and the commitments of every
 * signer as this one received them. Without the last, a signer that sent different commitments to
 * two signers would make an honest one look like a cheater. A signer uses the own commitments that
 * it drew, whatever the inbox contains.
 *
 * Refuses: commitments that are missing or not two points of the group (their sender).
 */
export function signShare(state: CommitState, inbox: ReadonlyMap<PartyIndex, Uint8Array>): RoundResult<Uint8Array> {
  const { session, nonces, commitments } = state.take();
  const { share, signers, message } = session;
  const { pointBytes } = suiteOf(share.scheme);
  const all = new Map<PartyIndex, Uint8Array>();
  try {
    for (const signer of signers) {
      const theirs = signer === share.self ? commitments : inbox.get(signer);
      if (theirs?.length !== 2 * pointBytes) return abortedBy(signer, 'frost-sign/commitments');
      all.set(signer, theirs);
    }
    const turn = bindCommitments({ key: share, message, commitments: all }, (signer) => signer === share.self);
    return completed(concatBytes(shareOf(session, nonces, turn), turn.commitment, ...all.values()));
  } catch (error) {
    const culprit = malformedAmong(share.scheme, all);
    if (culprit === null) throw error;
    return abortedBy(culprit, 'frost-sign/commitments');
  } finally {
    nonces.hiding.wipe();
    nonces.binding.wipe();
  }
}

/**
 * "sig_share = hiding_nonce + (binding_nonce * binding_factor) + (lambda_i * sk_i * challenge)".
 */
function shareOf(
  { share, signers }: FrostSession,
  { hiding, binding }: Nonces,
  { factors, challenge, isNonceNegated, isKeyNegated }: BoundCommitments,
): Uint8Array {
  return inGroupOf(share.scheme, ({ order, secrets }) => {
    const factor = factors.get(share.self);
    if (factor === undefined) throw new Error('a signer has no binding factor');
    const nonce = secrets.multiplyAdd(binding, secrets.of(factor), hiding);
    const weight = (lagrangeAtZero(order, share.self, signers) * challenge) % order;
    const weighted = secrets.multiplyAdd(share.secret, secrets.of(weight), secrets.of(0n));
    const [signed, own] = [
      isNonceNegated ? secrets.negate(nonce) : nonce,
      isKeyNegated ? secrets.negate(weighted) : weighted,
    ];
    return secrets.reveal(addSecrets(secrets, signed, own));
  });
}
