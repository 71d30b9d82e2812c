import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
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
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { taggedHash } from '#mpc/transcript.ts';

export interface KeyGenerationRequest {
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
  const { own, parties, threshold, policies } = request;
  const hashes = policies.map((policy) => hexToBytes(policyHashOf(policy)));
  const context = taggedHash(
    'cosigner/keygen',
    Uint8Array.from(parties),
    Uint8Array.of(threshold),
    concatBytes(...hashes),
  );
  return {
    participants: parties,
    purpose: 'keygen',
    context,
    begin: (sid) => commitRound(request, { sid, self: own.index, parties, threshold }),
  };
}

function commitRound(request: KeyGenerationRequest, session: KeygenSession): Round {
  return {
    run: async () => {
      const { state, message } = commit(session);
      return sent(toAll(session, message), revealRound(request, session, state));
    },
  };
}

function revealRound(request: KeyGenerationRequest, session: KeygenSession, state: CommitState): Round {
  return {
    run: async (inbox) => {
      const round = reveal(state, inbox);
      if (!round.ok) return aborted(round.abort);
      return sent(toAll(session, round.value.message), distributeRound(request, session, round.value.state));
    },
  };
}

function distributeRound(request: KeyGenerationRequest, session: KeygenSession, state: RevealState): Round {
  return {
    run: async (inbox) => {
      const round = distribute(state, inbox);
      if (!round.ok) return aborted(round.abort);
      return sent(round.value.messages, confirmRound(request, session, round.value.state));
    },
  };
}

function confirmRound(request: KeyGenerationRequest, session: KeygenSession, state: DistributeState): Round {
  return {
    run: async (inbox) => {
      const round = confirm(state, inbox);
      if (!round.ok) return aborted(round.abort);
      const statement = concatBytes(utf8ToBytes('conclave/keygen-confirmation/v1'), round.value.statement);
      const signature = await signAsNode(request.own, statement);
      return sent(toAll(session, signature), activateRound(request, session, { state: round.value.state, statement }));
    },
  };
}

function activateRound(
  request: KeyGenerationRequest,
  session: KeygenSession,
  confirmed: { readonly state: ConfirmState; readonly statement: Uint8Array },
): Round {
  return {
    run: async (inbox) => {
      const { share } = confirmed.state.take();
      const liar = await unconfirmed(request, inbox, confirmed.statement);
      if (liar !== null) return aborted(abortedBy(liar, 'keygen-activate/confirmation').abort);
      await request.store(share);
      const publicKey = Buffer.from(share.publicKey).toString('hex');
      return finished({ keyId: share.keyId, publicKey, parties: session.parties.length });
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

function toAll(session: KeygenSession, message: Uint8Array): Inbox {
  return new Map(peersOf(session).map((peer) => [peer, message]));
}
