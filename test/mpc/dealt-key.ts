import { randomBytes } from '@noble/hashes/utils.js';
import type { PairSetup } from '#mpc/ecdsa/pair-setup.ts';
import { parsePartyIndex, type PartyIndex } from '#mpc/party.ts';
import { modOrder } from '#curve/scalar.ts';
import { encodePoint, Point, SECRETS } from '#mpc/secp256k1.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';
import { randomScalar } from './secret-values.ts';

/** A whole key in one place, for tests only. No code under src/ may hold a whole key. */
export interface DealtKey {
  readonly secretKey: bigint;
  readonly publicKey: Uint8Array;
  readonly shares: ReadonlyMap<PartyIndex, SecretScalar>;
  readonly publicShares: ReadonlyMap<PartyIndex, Uint8Array>;
}

export function party(index: number): PartyIndex {
  const parsed = parsePartyIndex(index);
  if (parsed === null) throw new Error(`no party ${index}`);
  return parsed;
}

/** @param secretKey the key to share; a new one when absent */
export function dealKey(
  threshold: number,
  parties: readonly PartyIndex[],
  secretKey: bigint = randomScalar(),
): DealtKey {
  const coefficients = [secretKey, ...Array.from({ length: threshold - 1 }, randomScalar)];
  const shareOf = (x: PartyIndex) =>
    SECRETS.of(coefficients.reduceRight((sum, coefficient) => modOrder(sum * BigInt(x) + coefficient), 0n));
  const shares = new Map(parties.map((x) => [x, shareOf(x)]));
  const publicShares = new Map([...shares].map(([x, share]) => [x, encodePoint(Point.multiple(share))]));
  return { secretKey, publicKey: encodePoint(Point.multiple(SECRETS.of(secretKey))), shares, publicShares };
}

function randomWords(count: number): Int32Array {
  return new Int32Array(randomBytes(4 * count).buffer);
}

interface Direction {
  readonly zeros: Int32Array;
  readonly ones: Int32Array;
  readonly delta: Int32Array;
  readonly chosen: Int32Array;
}

function dealDirection(): Direction {
  const [zeros, ones, delta] = [randomWords(128 * 8), randomWords(128 * 8), randomWords(4)];
  const chosen = new Int32Array(128 * 8);
  for (let i = 0; i < 128; i++) {
    const from = ((delta[i >> 5]! >>> (i & 31)) & 1) === 1 ? ones : zeros;
    chosen.set(from.subarray(8 * i, 8 * i + 8), 8 * i);
  }
  return { zeros, ones, delta, chosen };
}

/**
 * Returns what pairRound1..4 would give both sides, without the 2 s of base OTs in Node.
 * pair-setup.test.ts runs the real rounds.
 */
export function dealPair(first: PartyIndex, second: PartyIndex): readonly [PairSetup, PairSetup] {
  const [forward, backward] = [dealDirection(), dealDirection()];
  const shared = { setupId: randomBytes(32), zeroSeed: randomBytes(32) };
  const side = (self: PartyIndex, peer: PartyIndex, mine: Direction, theirs: Direction): PairSetup => ({
    ...shared,
    self,
    peer,
    asBob: { zeros: mine.zeros, ones: mine.ones },
    asAlice: { delta: theirs.delta, chosen: theirs.chosen },
  });
  return [side(first, second, forward, backward), side(second, first, backward, forward)];
}

/** Returns the set-ups of every pair, by owner and peer. */
export function dealPairs(parties: readonly PartyIndex[]): ReadonlyMap<PartyIndex, ReadonlyMap<PartyIndex, PairSetup>> {
  const all = new Map(parties.map((owner) => [owner, new Map<PartyIndex, PairSetup>()]));
  parties.forEach((first, i) => {
    for (const second of parties.slice(i + 1)) {
      const [mine, theirs] = dealPair(first, second);
      all.get(first)!.set(second, mine);
      all.get(second)!.set(first, theirs);
    }
  });
  return all;
}
