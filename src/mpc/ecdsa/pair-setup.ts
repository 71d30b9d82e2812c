import { concatBytes } from '@noble/hashes/utils.js';
import { abortedBy, completed, type RoundResult } from '#mpc/abort.ts';
import {
  CHOICE_BYTES,
  chooseOts,
  type ChosenOts,
  OFFER_BYTES,
  type OfferedOts,
  offerOts,
  seedsOfReceiver,
  seedsOfSender,
} from '#mpc/ecdsa/base-ot.ts';
import { ByteReader, wireBytes } from '#mpc/ecdsa/byte-reader.ts';
import type { ReceiverSeeds, SenderSeeds } from '#mpc/ecdsa/ot-extension.ts';
import { BASE_OTS, LANES } from '#mpc/ecdsa/parameters.ts';
import { WORDS } from '#mpc/ecdsa/scalar-words.ts';
import { SingleUse } from '#mpc/single-use.ts';
import { parsePartyIndex, type PartyIndex } from '#mpc/party.ts';
import { freshBytes } from '#mpc/secp256k1.ts';
import { DIGEST_BYTES, equalBytes, taggedHash } from '#mpc/transcript.ts';

/**
 * What one pair of co-signers shares before it can sign, whatever the key: base OTs in both
 * directions and a seed for zero shares (DKLs23 Protocol 3.6, set-up steps 1 to 3). It is bound to
 * no key, made once per pair and epoch, and deleted by a ban. Every field but the ids is secret.
 *
 * docs/adr/protocol-departures.md lists where this and the signing rounds depart from the papers.
 */
export interface PairSetup {
  /** 32 bytes, public, the same on both sides. */
  readonly setupId: Uint8Array;
  readonly self: PartyIndex;
  readonly peer: PartyIndex;
  /** For the sessions where self is Bob of the vector OLE. */
  readonly asBob: ReceiverSeeds;
  /** For the sessions where self is Alice. */
  readonly asAlice: SenderSeeds;
  /** 32 bytes, the same on both sides. */
  readonly zeroSeed: Uint8Array;
}

interface Pair {
  /** 32 bytes to which both co-signers contributed; never used twice. */
  readonly sid: Uint8Array;
  readonly self: PartyIndex;
  readonly peer: PartyIndex;
}

interface Contribution {
  readonly seed: Uint8Array;
  readonly blinding: Uint8Array;
}

interface AfterRound1 extends Pair {
  readonly own: Contribution;
  readonly offered: OfferedOts;
  readonly chosen: ChosenOts;
  readonly message: Uint8Array;
}

interface AfterRound2 extends Pair {
  readonly own: Contribution;
  readonly setupId: Uint8Array;
  readonly peerCommitment: Uint8Array;
  readonly asBob: ReceiverSeeds;
  readonly asAlice: SenderSeeds;
}

interface AfterRound3 {
  readonly setup: PairSetup;
}

export type PairRound1State = SingleUse<AfterRound1>;
export type PairRound2State = SingleUse<AfterRound2>;
export type PairRound3State = SingleUse<AfterRound3>;

const SEED_BYTES = 32;
export const PAIR_ROUND1_BYTES = 2 * DIGEST_BYTES + OFFER_BYTES + CHOICE_BYTES;
const PAIR_ROUND2_BYTES = DIGEST_BYTES + 2 * SEED_BYTES;
const PAIR_ROUND3_BYTES = 2 * DIGEST_BYTES;

/**
 * Round 1: commit to a contribution to the zero seed (Functionality 3.4 by commitment, as the paper
 * proposes), offer base OTs as their sender and choose as their receiver. The two OT directions are
 * independent and travel in parallel.
 */
export function pairRound1(pair: Pair): RoundResult<{ state: PairRound1State; message: Uint8Array }> {
  const { sid, self, peer } = pair;
  if (sid.length !== DIGEST_BYTES) throw new Error('the sid of a pair set-up does not have 32 bytes');
  if (self === peer) throw new Error('the two parties of a pair are the same');
  // DKLs23, Functionality 3.4, set-up: draw the own contribution to the seed of the zero shares.
  const own = { seed: freshBytes(SEED_BYTES), blinding: freshBytes(SEED_BYTES) };
  // DKLs23, Functionality 3.5, set-up: base OTs (KOS15 figure 10, initialisation). In the sessions
  // where a party is Bob it was their sender, and where it is Alice their receiver.
  const offered = offerOts();
  const chosen = chooseOts(directionSid(pair, 'self chooses'));
  // Functionality 3.4, set-up: commit to the contribution. Ours: all of this is one message.
  const message = concatBytes(contextOf(sid, 1, [self, peer]), commit(sid, self, own), offered.message, chosen.message);
  return completed({ state: new SingleUse({ sid, self, peer, own, offered, chosen, message }), message });
}

/**
 * Round 2: derive the seeds of both directions, then open the commitment. The context of this
 * message is the set-up id, a digest of both round 1 messages: an alteration of one of them by a
 * relay is detected here, before a seed is revealed to it. Refuses: malformed or foreign message; a
 * malformed point.
 */
export function pairRound2(input: {
  state: PairRound1State;
  message: Uint8Array;
}): RoundResult<{ state: PairRound2State; message: Uint8Array }> {
  const before = input.state.take();
  const { sid, self, peer, own } = before;
  if (input.message.length !== PAIR_ROUND1_BYTES) return abortedBy(peer, 'pair-2/length');
  const reader = new ByteReader(input.message);
  if (!equalBytes(reader.bytes(DIGEST_BYTES), contextOf(sid, 1, [peer, self])))
    return abortedBy(peer, 'pair-2/context');
  const peerCommitment = reader.bytes(DIGEST_BYTES);
  // DKLs23, Functionality 3.5, set-up: end the base OTs of both directions.
  const asAlice = seedsOfReceiver(directionSid(before, 'self chooses'), before.chosen, reader.bytes(OFFER_BYTES));
  const asBob = seedsOfSender(directionSid(before, 'peer chooses'), before.offered, reader.bytes(CHOICE_BYTES));
  if (asAlice === null || asBob === null) return abortedBy(peer, 'pair-2/point');
  // Ours: one id for the set-up. Each later message and each vector OLE names it.
  const [lower, higher] = self < peer ? [before.message, input.message] : [input.message, before.message];
  const setupId = taggedHash(
    'ecdsa/pair/setup-id',
    sid,
    Uint8Array.of(Math.min(self, peer), Math.max(self, peer)),
    lower,
    higher,
  );
  // Functionality 3.4, set-up: open the commitment.
  const message = concatBytes(contextOf(setupId, 2, [self, peer]), own.seed, own.blinding);
  return completed({
    state: new SingleUse({ sid, self, peer, own, setupId, peerCommitment, asBob, asAlice }),
    message,
  });
}

/**
 * Round 3: check the peer's opening, combine both contributions, and confirm. The confirmation
 * covers public values and the zero seed, never an OT seed: whether a chosen seed matches would
 * reveal a choice bit to a cheating OT sender. Refuses: malformed or foreign message; a
 * contribution that does not match its commitment.
 */
export function pairRound3(input: {
  state: PairRound2State;
  message: Uint8Array;
}): RoundResult<{ state: PairRound3State; message: Uint8Array }> {
  const { sid, self, peer, own, setupId, peerCommitment, asBob, asAlice } = input.state.take();
  if (input.message.length !== PAIR_ROUND2_BYTES) return abortedBy(peer, 'pair-3/length');
  const reader = new ByteReader(input.message);
  if (!equalBytes(reader.bytes(DIGEST_BYTES), contextOf(setupId, 2, [peer, self])))
    return abortedBy(peer, 'pair-3/context');
  // Functionality 3.4, set-up: check the opening of the peer.
  const theirs = { seed: reader.bytes(SEED_BYTES), blinding: reader.bytes(SEED_BYTES) };
  if (!equalBytes(commit(sid, peer, theirs), peerCommitment)) return abortedBy(peer, 'pair-3/commitment');
  // Functionality 3.4, set-up: the common seed. Ours: a hash of both contributions, not a sum.
  const [lower, higher] = self < peer ? [own.seed, theirs.seed] : [theirs.seed, own.seed];
  const zeroSeed = taggedHash('ecdsa/pair/zero-seed', setupId, lower, higher);
  const setup: PairSetup = { setupId, self, peer, asBob, asAlice, zeroSeed };
  return completed({ state: new SingleUse({ setup }), message: confirmationOf(setup, [self, peer]) });
}

/**
 * Last step, which is ours: confirms that the peer has the same set-up. Refuses: malformed message;
 * another confirmation.
 */
export function pairRound4(input: { state: PairRound3State; message: Uint8Array }): RoundResult<{ setup: PairSetup }> {
  const { setup } = input.state.take();
  const { self, peer } = setup;
  if (input.message.length !== PAIR_ROUND3_BYTES) return abortedBy(peer, 'pair-4/length');
  if (!equalBytes(input.message, confirmationOf(setup, [peer, self]))) return abortedBy(peer, 'pair-4/confirmation');
  return completed({ setup });
}

const VERSION = 1;
const SEEDS_WORDS = BASE_OTS * WORDS;
const SETUP_BYTES = 3 + 2 * DIGEST_BYTES + 4 * (3 * SEEDS_WORDS + LANES);

/** For sealed storage only: these bytes are the secrets. */
export function encodePairSetup({ setupId, self, peer, asBob, asAlice, zeroSeed }: PairSetup): Uint8Array {
  const seeds = [asBob.zeros, asBob.ones, asAlice.delta, asAlice.chosen].map(wireBytes);
  return concatBytes(Uint8Array.of(VERSION, self, peer), setupId, zeroSeed, ...seeds);
}

/**
 * Throws on bytes that encodePairSetup did not make: a sealed record cannot be malformed by
 * accident.
 */
export function decodePairSetup(bytes: Uint8Array): PairSetup {
  if (bytes.length !== SETUP_BYTES) throw new Error('a pair set-up of the wrong length');
  const reader = new ByteReader(bytes);
  const [version, first, second] = reader.bytes(3);
  const self = parsePartyIndex(first ?? 0);
  const peer = parsePartyIndex(second ?? 0);
  if (version !== VERSION || self === null || peer === null || self === peer) throw new Error('not a pair set-up');
  const setupId = reader.bytes(DIGEST_BYTES);
  const zeroSeed = reader.bytes(DIGEST_BYTES);
  const asBob = { zeros: reader.words(SEEDS_WORDS), ones: reader.words(SEEDS_WORDS) };
  const asAlice = { delta: reader.words(LANES), chosen: reader.words(SEEDS_WORDS) };
  return { setupId, self, peer, asBob, asAlice, zeroSeed };
}

function contextOf(id: Uint8Array, round: number, [from, to]: readonly [PartyIndex, PartyIndex]): Uint8Array {
  return taggedHash('ecdsa/pair/context', id, Uint8Array.of(round, from, to));
}

function commit(sid: Uint8Array, party: PartyIndex, { seed, blinding }: Contribution): Uint8Array {
  return taggedHash('ecdsa/pair/commitment', sid, Uint8Array.of(party), seed, blinding);
}

function confirmationOf({ setupId, zeroSeed }: PairSetup, direction: readonly [PartyIndex, PartyIndex]): Uint8Array {
  const context = contextOf(setupId, 3, direction);
  return concatBytes(context, taggedHash('ecdsa/pair/confirmation', context, zeroSeed));
}

/** The OTs of each direction have their own sid, which names the party that chooses. */
function directionSid({ sid, self, peer }: Pair, who: 'self chooses' | 'peer chooses'): Uint8Array {
  const direction = who === 'self chooses' ? Uint8Array.of(self, peer) : Uint8Array.of(peer, self);
  return taggedHash('ecdsa/pair/base-ot', sid, direction);
}
