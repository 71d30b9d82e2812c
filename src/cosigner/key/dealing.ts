import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { PeerMessages, SessionPlan, Round } from '#cosigner/session/protocol.ts';
import { aborted, finished, sent } from '#cosigner/session/protocol.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { abortedBy } from '#mpc/abort.ts';
import { type CosignerIdentity, type PeerIdentity, signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import { commit, type CommitState } from '#mpc/keygen/commit.ts';
import { confirm, type ConfirmState } from '#mpc/keygen/confirm.ts';
import { distribute, type DistributeState } from '#mpc/keygen/distribute.ts';
import type { Resharing } from '#mpc/keygen/resharing.ts';
import { partOf, partsOf } from '#mpc/keygen/resharing.ts';
import { reveal, type RevealState } from '#mpc/keygen/reveal.ts';
import { type KeygenSession, peersOf } from '#mpc/keygen/session.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { Group, GroupPoint } from '#mpc/group.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { type KeyShare, publicSharesText } from '#mpc/share.ts';

/** An existing key, and the co-signers that deal their shares of it. */
export interface Origin {
  readonly keyId: string;
  /** The epoch of the new shares. */
  readonly epoch: number;
  readonly dealers: readonly PartyIndex[];
  /** The old public shares. Those of the dealers are points whose sum is the key. */
  readonly publicShares: ReadonlyMap<PartyIndex, Uint8Array>;
  /** The old share of this co-signer, or null when it only receives. */
  readonly share: KeyShare | null;
  /** Records the epoch. Called before the confirmation of this co-signer leaves. */
  readonly confirming: () => void;
}

/** The input of a dealing of shares, for a new key or an existing one. */
export interface DealingRequest {
  /** Hashed into the session id, like the context. */
  readonly purpose: 'keygen' | 'reshare';
  /** All other data that the co-signers have to agree on. */
  readonly context: Uint8Array;
  readonly scheme: KeyScheme;
  readonly own: CosignerIdentity;
  readonly peers: ReadonlyMap<PartyIndex, PeerIdentity>;
  readonly parties: readonly PartyIndex[];
  readonly threshold: number;
  /** Null for a new key. */
  readonly origin: Origin | null;
  /**
   * Stores the share. It is called only after all co-signers signed the same statement. A refusal
   * stores nothing and ends the session.
   */
  readonly store: (share: KeyShare, statement: Uint8Array) => Promise<Refused | null>;
}

/**
 * Returns the plan by which this co-signer deals shares: commit, reveal, distribute, confirm, and
 * then the signatures of all co-signers over one statement.
 */
export function prepareDealing(request: DealingRequest): SessionPlan {
  const { scheme, own, parties, threshold, origin, purpose, context } = request;
  return {
    participants: parties,
    purpose,
    context,
    opening: null,
    isRateLimited: true,
    begin: (sid) =>
      inGroupOf(scheme, (group) => {
        const session = { scheme, group, sid, self: own.index, parties, threshold };
        return commitRound(request, origin === null ? session : { ...session, resharing: resharingOf(group, origin) });
      }),
  };
}

function resharingOf<P extends GroupPoint<P>>(
  group: Group<P>,
  { epoch, dealers, publicShares, share }: Origin,
): Resharing<P> {
  const points = partsOf(group, publicShares, dealers);
  if (points === null) throw new Error('the old share of a dealer is not a point');
  const part = share === null || !dealers.includes(share.self) ? null : partOf(group, share, dealers);
  return { dealers, epoch, part, points };
}

function commitRound<P extends GroupPoint<P>>(request: DealingRequest, session: KeygenSession<P>): Round {
  return {
    run: async () => {
      const { state, message } = commit(session);
      return sent(toAll(session, message), revealRound(request, session, state));
    },
  };
}

function revealRound<P extends GroupPoint<P>>(
  request: DealingRequest,
  session: KeygenSession<P>,
  state: CommitState<P>,
): Round {
  return {
    run: async (inbox) => {
      const round = reveal(state, inbox);
      if (!round.ok) return aborted(round.abort);
      return sent(toAll(session, round.value.message), distributeRound(request, session, round.value.state));
    },
  };
}

function distributeRound<P extends GroupPoint<P>>(
  request: DealingRequest,
  session: KeygenSession<P>,
  state: RevealState<P>,
): Round {
  return {
    run: async (inbox) => {
      const round = distribute(state, inbox);
      if (!round.ok) return aborted(round.abort);
      return sent(round.value.messages, confirmRound(request, session, round.value.state));
    },
  };
}

function confirmRound<P extends GroupPoint<P>>(
  request: DealingRequest,
  session: KeygenSession<P>,
  state: DistributeState<P>,
): Round {
  return {
    run: async (inbox) => {
      const round = confirm(state, inbox);
      if (!round.ok) return aborted(round.abort);
      const statement = concatBytes(utf8ToBytes('conclave/keygen-confirmation/v1'), round.value.statement);
      request.origin?.confirming();
      const signature = await signAsCosigner(request.own, statement);
      return sent(toAll(session, signature), activateRound(request, { state: round.value.state, statement }));
    },
  };
}

function activateRound(
  request: DealingRequest,
  confirmed: { readonly state: ConfirmState; readonly statement: Uint8Array },
): Round {
  return {
    run: async (inbox) => {
      const { share } = confirmed.state.take();
      const liar = await unconfirmed(request, inbox, confirmed.statement);
      if (liar !== null) return aborted(abortedBy(liar, 'keygen-activate/confirmation').abort);
      if (request.origin !== null && share.keyId !== request.origin.keyId)
        throw new Error('the new share is not of the same key');
      const fault = await request.store(share, confirmed.statement);
      if (fault !== null) return aborted(abortedBy(share.self, `keygen-activate/${fault.code}`).abort);
      return finished({
        keyId: share.keyId,
        publicKey: bytesToHex(share.publicKey),
        publicShares: publicSharesText(share.publicShares),
      });
    },
  };
}

/** Returns the first peer whose signature over exactly this statement is missing, or null. */
async function unconfirmed(
  request: DealingRequest,
  inbox: PeerMessages,
  statement: Uint8Array,
): Promise<PartyIndex | null> {
  for (const [party, peer] of request.peers) {
    const signature = inbox.get(party) ?? new Uint8Array();
    if (!(await verifyAsCosigner(peer, statement, signature))) return party;
  }
  return null;
}

function toAll<P extends GroupPoint<P>>(session: KeygenSession<P>, message: Uint8Array): PeerMessages {
  return new Map(peersOf(session).map((peer) => [peer, message]));
}
