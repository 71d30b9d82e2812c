import { bytesToHex } from '@noble/hashes/utils.js';
import type { SessionPlan, Round } from '#cosigner/session/protocol.ts';
import { aborted, finished, sent } from '#cosigner/session/protocol.ts';
import { pairRound1, pairRound2, pairRound3, pairRound4, type PairSetup } from '#mpc/ecdsa/pair-setup.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { taggedHash } from '#mpc/transcript.ts';

export interface PairingRequest {
  readonly self: PartyIndex;
  readonly peer: PartyIndex;
  /**
   * Stores the set-up permanently and replaces the previous one. The peer may lack the new one:
   * either both sides store the same last set-up, or they detect the difference.
   */
  readonly store: (setup: PairSetup) => Promise<void>;
}

/**
 * Returns the plan for the set-up of one pair of co-signers. It is made once and used by every key:
 * base OTs in both directions and a seed for zero shares.
 */
export function preparePairing({ self, peer, store }: PairingRequest): SessionPlan {
  const participants = [self, peer].toSorted((a, b) => a - b);
  return {
    participants,
    purpose: 'pair',
    context: taggedHash('cosigner/pair', Uint8Array.from(participants)),
    opening: null,
    isRateLimited: true,
    begin: (sid) => firstRound({ sid, self, peer }, store),
  };
}

function firstRound(
  pair: { readonly sid: Uint8Array; readonly self: PartyIndex; readonly peer: PartyIndex },
  store: PairingRequest['store'],
): Round {
  const { peer } = pair;
  const fourth = (state: Parameters<typeof pairRound4>[0]['state']): Round => ({
    run: async (inbox) => {
      const round = pairRound4({ state, message: inbox.get(peer) ?? new Uint8Array() });
      if (!round.ok) return aborted(round.abort);
      const { setup } = round.value;
      await store(setup);
      return finished({ setupId: bytesToHex(setup.setupId) });
    },
  });
  const third = (state: Parameters<typeof pairRound3>[0]['state']): Round => ({
    run: async (inbox) => {
      const round = pairRound3({ state, message: inbox.get(peer) ?? new Uint8Array() });
      if (!round.ok) return aborted(round.abort);
      return sent(new Map([[peer, round.value.message]]), fourth(round.value.state));
    },
  });
  const second = (state: Parameters<typeof pairRound2>[0]['state']): Round => ({
    run: async (inbox) => {
      const round = pairRound2({ state, message: inbox.get(peer) ?? new Uint8Array() });
      if (!round.ok) return aborted(round.abort);
      return sent(new Map([[peer, round.value.message]]), third(round.value.state));
    },
  });
  return {
    run: async () => {
      const round = pairRound1(pair);
      if (!round.ok) return aborted(round.abort);
      return sent(new Map([[peer, round.value.message]]), second(round.value.state));
    },
  };
}
