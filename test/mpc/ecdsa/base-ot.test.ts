import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { chooseOts, offerOts, seedsOfReceiver, seedsOfSender } from '#mpc/ecdsa/base-ot.ts';
import { boundMask, pairAt, plainSeed, plainSenderSeed, seedAt, type Slot } from './plain-base-ot.ts';
import { valueOf } from '../secret-values.ts';

/** Base OTs take seconds in Node, so all tests of this file share one honest run. */
const sid = randomBytes(32);
const offered = offerOts();
const chosen = chooseOts(sid);
const ofSender = seedsOfSender(sid, offered, chosen.message)!;
const ofReceiver = seedsOfReceiver(sid, chosen, offered.message)!;

const INDICES = [0, 1, 2, 63, 126, 127];
const SLOTS: readonly Slot[] = INDICES.flatMap((index): Slot[] => [
  [index, 0],
  [index, 1],
]);

/** Returns the choice bit of one OT, least significant bit of a byte first. */
function choiceAt(index: number): number {
  return ((chosen.choices[index >> 3] ?? 0) >> (index & 7)) & 1;
}

test("the sender's seeds are those of the paper, hashed with their index and slot", () => {
  const mask = boundMask(sid);
  for (const slot of SLOTS) {
    const known = plainSenderSeed(sid, slot, { secret: valueOf(offered.secret), choice: chosen.message, mask });
    const seeds = slot[1] === 0 ? ofSender.zeros : ofSender.ones;
    expect([slot, bytesToHex(seedAt(seeds, slot[0]))]).toEqual([slot, bytesToHex(known)]);
  }
});

test("the receiver's seeds are t Y, hashed with their index and slot", () => {
  const offer = offered.message;
  const point = secp256k1.Point.fromBytes(offer);
  for (const index of INDICES) {
    const slot: Slot = [index, choiceAt(index)];
    const key = point.multiply(valueOf(chosen.secrets[index]!)).toBytes(true);
    const known = plainSeed(sid, slot, { offer, choice: chosen.message, key });
    expect([slot, bytesToHex(seedAt(ofReceiver.chosen, index))]).toEqual([slot, bytesToHex(known)]);
  }
});

test('the chosen point is t G minus the mask of the other point, and the other point is not', () => {
  const mask = boundMask(sid);
  for (const index of INDICES) {
    const [choice, pair] = [choiceAt(index), pairAt(chosen.message, index)];
    const multiple = secp256k1.Point.BASE.multiply(valueOf(chosen.secrets[index]!));
    const unmasked = ([0, 1] as const).map((slot) => {
      const point = multiple.subtract(mask([index, slot], pair[1 - slot]!));
      return bytesToHex(point.toBytes(true)) === bytesToHex(pair[slot]);
    });
    expect([index, unmasked]).toEqual([index, [choice === 0, choice === 1]]);
  }
});

test('one key at two indices or slots gives two seeds, so equal points in two OTs reveal nothing', () => {
  const reported = { offer: offered.message, choice: chosen.message, key: offered.message };
  const seeds = SLOTS.map((slot) => bytesToHex(plainSeed(sid, slot, reported)));
  expect(new Set(seeds).size).toBe(SLOTS.length);
});
