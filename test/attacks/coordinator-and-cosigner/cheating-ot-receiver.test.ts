/**
 * Attack: a co-signer constructs both points of each base OT from logarithms that it knows, to
 *   obtain both seeds.
 * Attacker: coordinator-and-cosigner
 * Co-signers: 1
 * Finding: 3
 * Defence: the mask of each point is a hash of the other point, so the receiver can unmask at most
 *   one of the two.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, concatBytes, randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { offerOts, seedsOfSender } from '#mpc/ecdsa/base-ot.ts';
import {
  boundMask,
  type Mask,
  plainSeed,
  plainSenderSeed,
  seedAt,
  type Slot,
  unboundMask,
} from '../../mpc/ecdsa/plain-base-ot.ts';
import { randomScalar, valueOf } from '../../mpc/secret-values.ts';

/**
 * A receiver that knows both seeds of every OT can read the choice bits that the sender draws for
 * each signature. These bits are the sender's input of the vector OLE, so the receiver learns the
 * sender's key share.
 */

const OTS = 128;
const { BASE } = secp256k1.Point;
const sid = randomBytes(32);
const honest = offerOts();

interface Cheat {
  /** The masks r_0 and r_1 of each OT. */
  readonly choice: Uint8Array;
  /** The logarithms t_0 and t_1 of each OT. */
  readonly secrets: readonly (readonly [bigint, bigint])[];
}

/** Builds the message of a cheating receiver, mallory: r_s = t_s G - H_s for both s. */
function cheat(maskOf: (slot: Slot) => ReturnType<Mask>): Cheat {
  const secrets = Array.from({ length: OTS }, () => [randomScalar(), randomScalar()] as const);
  const points = secrets.flatMap((pair, index) =>
    pair.map((t, slot) =>
      BASE.multiply(t)
        .subtract(maskOf([index, slot]))
        .toBytes(true),
    ),
  );
  return { choice: concatBytes(...points), secrets };
}

/**
 * Returns the seed of a slot as mallory computes it: the hash of t_s Y, where Y is the message of
 * the sender.
 */
function guessOf({ choice, secrets }: Cheat, slot: Slot): string {
  const offer = honest.message;
  const key = secp256k1.Point.fromBytes(offer).multiply(secrets[slot[0]]![slot[1]]!).toBytes(true);
  return bytesToHex(plainSeed(sid, slot, { offer, choice, key }));
}

/** Returns, for each OT, which of the seeds that the sender computes mallory knows. */
function learnt(cheated: Cheat): readonly string[] {
  const seeds = seedsOfSender(sid, honest, cheated.choice);
  if (seeds === null) throw new Error('every point is on the curve');
  return Array.from({ length: OTS }, (_, index) => {
    const known = ([seeds.zeros, seeds.ones] as const).map(
      (words, slot) => bytesToHex(seedAt(words, index)) === guessOf(cheated, [index, slot]),
    );
    return known.map((isKnown, slot) => (isKnown ? String(slot) : '')).join('');
  });
}

test('without the hash of the other point in each mask, a receiver would know both seeds of every OT', () => {
  const mask = unboundMask(sid);
  const cheated = cheat((slot) => mask(slot, new Uint8Array()));
  for (const index of [0, 1, 127]) {
    for (const choice of [0, 1]) {
      const slot: Slot = [index, choice];
      const weak = plainSenderSeed(sid, slot, { secret: valueOf(honest.secret), choice: cheated.choice, mask });
      expect(bytesToHex(weak)).toBe(guessOf(cheated, slot));
    }
  }
});

test.each<[string, (slot: Slot) => ReturnType<Mask>]>([
  ['no other point', (slot) => unboundMask(sid)(slot, new Uint8Array())],
  ['an empty one', (slot) => boundMask(sid)(slot, new Uint8Array())],
  ['a point of her own choice', (slot) => boundMask(sid)(slot, BASE.toBytes(true))],
])('a receiver that masks both points with a hash of %s knows neither seed of any OT', (_name, maskOf) => {
  expect(new Set(learnt(cheat(maskOf)))).toEqual(new Set(['']));
});

test('a receiver that computes one point from the other knows one seed and never both', () => {
  const mask = boundMask(sid);
  const secrets = Array.from({ length: OTS }, () => [randomScalar(), randomScalar()] as const);
  const points = secrets.flatMap(([t0, t1], index) => {
    const first = BASE.multiply(t0).toBytes(true);
    return [
      first,
      BASE.multiply(t1)
        .subtract(mask([index, 1], first))
        .toBytes(true),
    ];
  });
  expect(new Set(learnt({ choice: concatBytes(...points), secrets }))).toEqual(new Set(['1']));
});
