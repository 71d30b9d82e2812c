import { bytesToHex } from '@noble/hashes/utils.js';
import type { Inbox, Preparation, Round } from '#cosigner/protocol.ts';
import { aborted, finished, sent } from '#cosigner/protocol.ts';
import type { PairSetup } from '#mpc/ecdsa/pair-setup.ts';
import { signRound1 } from '#mpc/ecdsa/sign-round1.ts';
import { signRound2 } from '#mpc/ecdsa/sign-round2.ts';
import { signRound3 } from '#mpc/ecdsa/sign-round3.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { taggedHash, uint32 } from '#mpc/transcript.ts';

export interface SigningSessionRequest {
  readonly share: KeyShare;
  /** Sorted, this node included. */
  readonly signers: readonly PartyIndex[];
  readonly pairs: ReadonlyMap<PartyIndex, PairSetup>;
  /** 32 bytes that this node computed itself. */
  readonly digest: Uint8Array;
  /** What else names this signature: the transaction and attempt, or the proof of a key. */
  readonly occasion: Uint8Array;
  /** Writes the sign-once row; throws when it may not be written. Called before the first message. */
  readonly commitTo: () => void;
  /** Everything that was checked at the beginning, once more before the last round. False ends the session. */
  readonly stillAllowed: () => Promise<boolean>;
}

/** One signature of this node's share. The digest is fixed before the first round, and part of the session's name. */
export function prepareSigning(request: SigningSessionRequest): Preparation {
  const { share, signers, digest, occasion } = request;
  const context = taggedHash(
    'cosigner/sign',
    new TextEncoder().encode(share.keyId),
    uint32(share.epoch),
    Uint8Array.from(signers),
    digest,
    occasion,
  );
  return {
    participants: signers,
    purpose: 'sign',
    context,
    begin: (sid) => {
      request.commitTo();
      return firstRound(request, sid);
    },
  };
}

function firstRound(request: SigningSessionRequest, sid: Uint8Array): Round {
  const { share, signers, pairs, digest } = request;
  const third = (state: Parameters<typeof signRound3>[0]): Round => ({
    run: async (inbox: Inbox) => {
      if (!(await request.stillAllowed())) {
        return aborted({ culprit: share.self, step: 'sign-3/not-allowed', ban: false });
      }
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
