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
  /** The share of the key of the wallet. */
  readonly share: KeyShare;
  /** Sorted, this co-signer included. */
  readonly signers: readonly PartyIndex[];
  /**
   * The signed messages, each with its own signature, as this co-signer computed them; for ECDSA
   * digests of 32 bytes.
   */
  readonly messages: readonly Uint8Array[];
  /**
   * Further identification of the signature: the transaction and attempt, or the proof of a key.
   */
  readonly occasion: Uint8Array;
  /** The check of receipts and of the policy at the start (`SessionPlan.admit`). */
  readonly admit?: SessionPlan['admit'];
  /** Writes the sign-once row. Called before the first message; a refusal ends the session. */
  readonly commitTo: () => Refused | null;
  /** Repeats all initial checks before the last round. False ends the session. */
  readonly stillAllowed: () => Promise<boolean>;
}

/** The set-ups of DKLs23 with each of the other signers. */
export type Pairs = ReadonlyMap<PartyIndex, PairSetup>;

/**
 * Returns the plan of one signature, or of several at once, as this co-signer runs it. The messages
 * are fixed before the first round, and are part of the session id.
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
 * RFC 9591: two rounds, and the coordinator aggregates the results of the second. Round one
 * (section 5.1) needs no message of another signer, so it is the opening of the session. Several
 * messages share only the rounds: each has its own nonces. The parts are sent one after the other,
 * in the order of the messages.
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
    // A signer that sends wrong commitments or shares spoils a signature and learns nothing.
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

/**
 * Returns the first round of a session that this co-signer does not commit to. It ends with the
 * refusal and blames no peer.
 */
function endedRound({ self }: KeyShare, { code }: Refused): Round {
  return { run: async () => aborted({ culprit: self, step: `sign/${code}`, ban: false }) };
}

/**
 * DKLs23, Protocol 3.6. Several digests share only the rounds: each has its own session, whose id
 * is derived from the id of the rounds. The parts are sent one after the other, in the order of the
 * digests.
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
 * Runs the same step of every session, each with its part of the messages of the peers. The first
 * aborted step aborts all, after all have run, so the time of a refusal does not show a cheating
 * peer which one it was.
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

/** Returns for each peer the messages of all sessions, one after the other. */
function joined(rounds: readonly { readonly messages: PeerMessages }[]): PeerMessages {
  const [first] = rounds;
  if (first !== undefined && rounds.length === 1) return first.messages;
  const peers = [...(first?.messages.keys() ?? [])];
  const toPeer = (peer: PartyIndex) => concatBytes(...rounds.map(({ messages }) => messages.get(peer) ?? NOTHING));
  return new Map(peers.map((peer) => [peer, toPeer(peer)] as const));
}
