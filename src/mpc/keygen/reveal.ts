import { concatBytes } from '@noble/hashes/utils.js';
import { abortedBy, completed, type RoundResult } from '#mpc/abort.ts';
import { SingleUse } from '#mpc/single-use.ts';
import type { AfterCommit, CommitState } from '#mpc/keygen/commit.ts';
import { dealersOf, peersOf } from '#mpc/keygen/session.ts';
import type { GroupPoint } from '#mpc/group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { DIGEST_BYTES } from '#mpc/transcript.ts';

export interface AfterReveal<P extends GroupPoint<P>> extends AfterCommit<P> {
  readonly theirCommitments: ReadonlyMap<PartyIndex, Uint8Array>;
}

export type RevealState<P extends GroupPoint<P>> = SingleUse<AfterReveal<P>>;

/**
 * Round 1: open the own commitment after every commitment arrived. Refuses: a commitment that is
 * missing or of the wrong length.
 */
export function reveal<P extends GroupPoint<P>>(
  state: CommitState<P>,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
): RoundResult<{ readonly state: RevealState<P>; readonly message: Uint8Array }> {
  const own = state.take();
  const theirCommitments = new Map<PartyIndex, Uint8Array>();
  for (const peer of peersOf(own.session)) {
    const commitment = inbox.get(peer);
    const length = dealersOf(own.session).includes(peer) ? DIGEST_BYTES : 0;
    if (commitment?.length !== length) return abortedBy(peer, 'keygen-reveal/commitment');
    theirCommitments.set(peer, commitment);
  }
  const message = concatBytes(own.encoded, own.salt);
  return completed({ state: new SingleUse({ ...own, theirCommitments }), message });
}
