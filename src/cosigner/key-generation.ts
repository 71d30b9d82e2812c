import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Policy } from '#domain/policy.ts';
import { policyHashOf } from '#cosigner/approval-check.ts';
import type { Inbox, Preparation, Round } from '#cosigner/protocol.ts';
import { aborted, finished, sent } from '#cosigner/protocol.ts';
import { abortedBy } from '#mpc/abort.ts';
import { type NodeIdentity, type PeerIdentity, signAsNode, verifyAsNode } from '#mpc/envelope.ts';
import { commit, type CommitState } from '#mpc/keygen/commit.ts';
import { confirm, type ConfirmState } from '#mpc/keygen/confirm.ts';
import { distribute, type DistributeState } from '#mpc/keygen/distribute.ts';
import { reveal, type RevealState } from '#mpc/keygen/reveal.ts';
import { type KeygenSession, peersOf } from '#mpc/keygen/session.ts';
import type { KeyScheme } from '#domain/chain.ts';
import type { GroupPoint } from '#mpc/group.ts';
import { inGroupOf } from '#mpc/group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { taggedHash } from '#mpc/transcript.ts';

export interface KeyGenerationRequest {
  readonly scheme: KeyScheme;
  readonly own: NodeIdentity;
  readonly peers: ReadonlyMap<PartyIndex, PeerIdentity>;
  readonly parties: readonly PartyIndex[];
  readonly threshold: number;
  /** Pinned with the key: every version so far, in order. */
  readonly policies: readonly Policy[];
  /** Stores the share for good; called only with everybody's confirmation. */
  readonly store: (share: KeyShare) => Promise<void>;
}

/**
 * Key generation as this node runs it: commit, reveal, distribute, confirm, and then everybody's signature over the same
 * statement. The policies are part of the statement, so no two nodes ever pin different ones.
 */
export function prepareKeyGeneration(request: KeyGenerationRequest): Preparation {
  const { scheme, own, parties, threshold, policies } = request;
  const hashes = policies.map((policy) => hexToBytes(policyHashOf(policy)));
  const context = taggedHash(
    'cosigner/keygen',
    utf8ToBytes(scheme),
    Uint8Array.from(parties),
    Uint8Array.of(threshold),
    concatBytes(...hashes),
  );
  return {
    participants: parties,
    purpose: 'keygen',
    context,
    opening: null,
    isRationed: true,
    begin: (sid) =>
      inGroupOf(scheme, (group) => commitRound(request, { scheme, group, sid, self: own.index, parties, threshold })),
  };
}

function commitRound<P extends GroupPoint<P>>(request: KeyGenerationRequest, session: KeygenSession<P>): Round {
  return {
    run: async () => {
      const { state, message } = commit(session);
      return sent(toAll(session, message), revealRound(request, session, state));
    },
  };
}

function revealRound<P extends GroupPoint<P>>(
  request: KeyGenerationRequest,
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
  request: KeyGenerationRequest,
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
  request: KeyGenerationRequest,
  session: KeygenSession<P>,
  state: DistributeState<P>,
): Round {
  return {
    run: async (inbox) => {
      const round = confirm(state, inbox);
      if (!round.ok) return aborted(round.abort);
      const statement = concatBytes(utf8ToBytes('conclave/keygen-confirmation/v1'), round.value.statement);
      const signature = await signAsNode(request.own, statement);
      return sent(toAll(session, signature), activateRound(request, { state: round.value.state, statement }));
    },
  };
}

function activateRound(
  request: KeyGenerationRequest,
  confirmed: { readonly state: ConfirmState; readonly statement: Uint8Array },
): Round {
  return {
    run: async (inbox) => {
      const { share } = confirmed.state.take();
      const liar = await unconfirmed(request, inbox, confirmed.statement);
      if (liar !== null) return aborted(abortedBy(liar, 'keygen-activate/confirmation').abort);
      await request.store(share);
      const shares = [...share.publicShares].map(([party, point]) => [String(party), bytesToHex(point)] as const);
      return finished({
        keyId: share.keyId,
        publicKey: bytesToHex(share.publicKey),
        publicShares: Object.fromEntries(shares),
      });
    },
  };
}

/** The first peer whose signature over the very same statement is missing. */
async function unconfirmed(
  request: KeyGenerationRequest,
  inbox: Inbox,
  statement: Uint8Array,
): Promise<PartyIndex | null> {
  for (const [party, peer] of request.peers) {
    const signature = inbox.get(party) ?? new Uint8Array();
    if (!(await verifyAsNode(peer, statement, signature))) return party;
  }
  return null;
}

function toAll<P extends GroupPoint<P>>(session: KeygenSession<P>, message: Uint8Array): Inbox {
  return new Map(peersOf(session).map((peer) => [peer, message]));
}
