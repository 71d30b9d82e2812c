import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { PeerMessages, SessionPlan, Round } from '#cosigner/session/protocol.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { aborted, finished, sent } from '#cosigner/session/protocol.ts';
import { type Aborted, completed, type RoundResult } from '#mpc/abort.ts';
import type { PairSetup } from '#mpc/ecdsa/pair-setup.ts';
import { signRound1 } from '#mpc/ecdsa/sign-round1.ts';
import { answerRound1, checkRound1 } from '#mpc/ecdsa/sign-round2.ts';
import { signRound3 } from '#mpc/ecdsa/sign-round3.ts';
import { commitToNonces } from '#mpc/frost/commit.ts';
import { signShare } from '#mpc/frost/sign.ts';
import type { FrostShare } from '#mpc/frost/suite.ts';
import { isFrostShare } from '#mpc/frost/suite.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { equalParts, taggedHash, uint32 } from '#mpc/transcript.ts';

export interface SigningSessionRequest {
  /** Of the wallet's key. */
  readonly share: KeyShare;
  /** Sorted, this node included. */
  readonly signers: readonly PartyIndex[];
  /** What is signed, each by a signature of its own, which this node computed itself: of ECDSA digests of 32 bytes. */
  readonly messages: readonly Uint8Array[];
  /** What else names this signature: the transaction and attempt, or the proof of a key. */
  readonly occasion: Uint8Array;
  /** The check of receipts and of the policy at the start (`Preparation.admit`). */
  readonly admit?: SessionPlan['admit'];
  /** Writes the sign-once row. Called before the first message; what it refuses ends the session. */
  readonly commitTo: () => Refused | null;
  /** Everything that was checked at the beginning, once more before the last round. False ends the session. */
  readonly stillAllowed: () => Promise<boolean>;
}

/** The set-ups of DKLs23 with each of the other signers. */
export type Pairs = ReadonlyMap<PartyIndex, PairSetup>;

/**
 * This node's share in one signature, or in several at once. What is signed is fixed before the first round, and part of the
 * session's name.
 */
export function prepareSigning(request: SigningSessionRequest, pairs: Pairs): SessionPlan {
  const { share, signers, messages, occasion } = request;
  const context = taggedHash(
    'cosigner/sign',
    utf8ToBytes(share.keyId),
    uint32(share.epoch),
    share.publicKey,
    Uint8Array.from(signers),
    occasion,
    ...messages,
  );
  const admitted = request.admit === undefined ? {} : { admit: request.admit };
  const common = { participants: signers, purpose: 'sign', context, ...admitted };
  if (isFrostShare(share)) return { ...common, ...frostRounds({ ...request, share }) };
  return {
    ...common,
    opening: null,
    isRateLimited: true,
    begin: (sid) => {
      const fault = request.commitTo();
      return fault === null ? ecdsaRound(request, pairs, sid) : endedRound(share, fault);
    },
  };
}

/**
 * RFC 9591: two rounds, and the second one's result is what the coordinator adds up. Round one (section 5.1) takes nothing of anybody
 * else, so it is the opening of the session. Several messages share the rounds and nothing else: each has nonces of its own. What is sent
 * is one part after the other, in the order of the messages.
 */
function frostRounds(request: SigningSessionRequest & { readonly share: FrostShare }) {
  const { share, signers, messages } = request;
  const drawn = messages.map((message) => commitToNonces({ share, signers, message }));
  const second: Round = {
    run: async (inbox: PeerMessages) => {
      if (!(await request.stillAllowed())) return notAllowed(share);
      const shares = each(
        drawn.map(({ state }) => state),
        inbox,
        signShare,
      );
      return shares.ok ? finished({ partial: bytesToHex(concatBytes(...shares.value)) }) : aborted(shares.abort);
    },
  };
  return {
    opening: concatBytes(...drawn.map(({ message }) => message)),
    // Who sends wrong commitments or shares spoils a signature, and learns nothing.
    isRateLimited: false,
    begin: () => {
      const fault = request.commitTo();
      return fault === null ? second : endedRound(share, fault);
    },
  };
}

const NOTHING = new Uint8Array();

function notAllowed({ self }: KeyShare) {
  return aborted({ culprit: self, step: 'sign/not-allowed', ban: false });
}

/** The first round of a session that this co-signer does not commit to: it ends by name, and no peer is to blame. */
function endedRound({ self }: KeyShare, { code }: Refused): Round {
  return { run: async () => aborted({ culprit: self, step: `sign/${code}`, ban: false }) };
}

/**
 * DKLs23, Protocol 3.6. Several digests share the rounds and nothing else: each has a session of its own, whose name follows from the one
 * of the rounds. What is sent is one part after the other, in the order of the digests.
 */
function ecdsaRound(request: SigningSessionRequest, pairs: Pairs, sid: Uint8Array): Round {
  const { share, signers, messages: digests } = request;
  const third = (states: readonly Parameters<typeof signRound3>[0][]): Round => ({
    run: async (inbox: PeerMessages) => {
      if (!(await request.stillAllowed())) return notAllowed(share);
      const rounds = each(states, inbox, (state, part, i) => signRound3(state, part, digests[i] ?? NOTHING));
      return rounds.ok ? finished({ partial: bytesToHex(concatBytes(...rounds.value)) }) : aborted(rounds.abort);
    },
  });
  const second = (states: readonly Parameters<typeof checkRound1>[0][]): Round => ({
    run: async (inbox: PeerMessages) => {
      const checked = each(states, inbox, checkRound1);
      if (!checked.ok) return aborted(checked.abort);
      const rounds = checked.value.map(answerRound1);
      return sent(joined(rounds), third(rounds.map(({ state }) => state)));
    },
  });
  return {
    run: async () => {
      const { self, secret: secretShare, publicKey, publicShares } = share;
      const session = { self, signers, secretShare, publicKey, publicShares, tweak: 0n, pairs };
      const rounds = digests.map((_, i) =>
        signRound1({ ...session, sid: taggedHash('cosigner/part', sid, uint32(i)) }),
      );
      return sent(joined(rounds), second(rounds.map(({ state }) => state)));
    },
  };
}

/**
 * The same step of every session, each with its own part of what the peers have sent. The first that is aborted ends them all, after all have
 * run: the time that a refusal takes does not tell a cheating peer which one it was.
 */
function each<S, T>(
  states: readonly S[],
  inbox: PeerMessages,
  step: (state: S, part: PeerMessages, i: number) => RoundResult<T>,
): RoundResult<readonly T[]> {
  const parts = new Map([...inbox].map(([peer, bytes]) => [peer, equalParts(bytes, states.length)] as const));
  const values: T[] = [];
  let first: Aborted | null = null;
  for (const [i, state] of states.entries()) {
    const round = step(state, new Map([...parts].map(([peer, own]) => [peer, own[i] ?? NOTHING] as const)), i);
    if (round.ok) values.push(round.value);
    else first ??= round;
  }
  return first ?? completed(values);
}

/** To each peer the messages of all sessions, one after the other. */
function joined(rounds: readonly { readonly messages: PeerMessages }[]): PeerMessages {
  const peers = [...(rounds[0]?.messages.keys() ?? [])];
  const toPeer = (peer: PartyIndex) => concatBytes(...rounds.map(({ messages }) => messages.get(peer) ?? NOTHING));
  return new Map(peers.map((peer) => [peer, toPeer(peer)] as const));
}
