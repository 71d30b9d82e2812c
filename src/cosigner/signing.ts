import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Inbox, Preparation, Round } from '#cosigner/protocol.ts';
import { aborted, finished, sent } from '#cosigner/protocol.ts';
import type { PairSetup } from '#mpc/ecdsa/pair-setup.ts';
import { signRound1 } from '#mpc/ecdsa/sign-round1.ts';
import { signRound2 } from '#mpc/ecdsa/sign-round2.ts';
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
  /** What is signed, each by a signature of its own, which this node computed itself: of ECDSA one digest of 32 bytes. */
  readonly messages: readonly Uint8Array[];
  /** What else names this signature: the transaction and attempt, or the proof of a key. */
  readonly occasion: Uint8Array;
  /** Writes the sign-once row; throws when it may not be written. Called before the first message. */
  readonly commitTo: () => void;
  /** Everything that was checked at the beginning, once more before the last round. False ends the session. */
  readonly stillAllowed: () => Promise<boolean>;
}

/** The set-ups of DKLs23 with each of the other signers. */
export type Pairs = ReadonlyMap<PartyIndex, PairSetup>;

/**
 * This node's share in one signature, or by FROST in several at once. What is signed is fixed before the first round, and part of the
 * session's name.
 */
export function prepareSigning(request: SigningSessionRequest, pairs: Pairs): Preparation {
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
  const common = { participants: signers, purpose: 'sign', context };
  if (isFrostShare(share)) return { ...common, ...frostRounds({ ...request, share }) };
  return {
    ...common,
    opening: null,
    isRationed: true,
    begin: (sid) => {
      request.commitTo();
      return ecdsaRound(request, pairs, sid);
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
    run: async (inbox: Inbox) => {
      if (!(await request.stillAllowed())) return notAllowed(share);
      const parts = new Map([...inbox].map(([peer, bytes]) => [peer, equalParts(bytes, drawn.length)] as const));
      const partials: Uint8Array[] = [];
      for (const [i, { state }] of drawn.entries()) {
        const round = signShare(state, new Map([...parts].map(([peer, each]) => [peer, each[i] ?? NOTHING] as const)));
        if (!round.ok) return aborted(round.abort);
        partials.push(round.value);
      }
      return finished({ partial: bytesToHex(concatBytes(...partials)) });
    },
  };
  return {
    opening: concatBytes(...drawn.map(({ message }) => message)),
    // Who sends wrong commitments or shares spoils a signature, and learns nothing.
    isRationed: false,
    begin: () => {
      request.commitTo();
      return second;
    },
  };
}

const NOTHING = new Uint8Array();

function notAllowed({ self }: KeyShare) {
  return aborted({ culprit: self, step: 'sign/not-allowed', ban: false });
}

/** DKLs23, Protocol 3.6. */
function ecdsaRound(request: SigningSessionRequest, pairs: Pairs, sid: Uint8Array): Round {
  const { share, signers } = request;
  const [digest, ...others] = request.messages;
  if (digest === undefined || others.length > 0) throw new Error('ECDSA signs one digest at a time');
  const third = (state: Parameters<typeof signRound3>[0]): Round => ({
    run: async (inbox: Inbox) => {
      if (!(await request.stillAllowed())) return notAllowed(share);
      const round = signRound3(state, inbox, digest);
      return round.ok ? finished({ partial: bytesToHex(round.value) }) : aborted(round.abort);
    },
  });
  const second = (state: Parameters<typeof signRound2>[0]): Round => ({
    run: async (inbox: Inbox) => {
      const round = signRound2(state, inbox);
      return round.ok ? sent(round.value.messages, third(round.value.state)) : aborted(round.abort);
    },
  });
  return {
    run: async () => {
      const { self, secret: secretShare, publicKey, publicShares } = share;
      const session = { sid, self, signers, secretShare, publicKey, publicShares, tweak: 0n, pairs };
      const { state, messages } = signRound1(session);
      return sent(messages, second(state));
    },
  };
}
