import { secp256k1 } from '@noble/curves/secp256k1.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { plainOracle, plainPoint } from '../plain-oracle.ts';

/**
 * The endemic OT of Masny and Rindal (eprint 2019/706, section 5.2, Diffie-Hellman in the random
 * oracle model) with noble's points, straight from the paper: the sender has y and Y = yG, the
 * receiver sends r_0 and r_1, and seed s is a hash of y (r_s + H_s(r_(1-s))).
 */

/** The index of an OT in the batch, and the number of one of its two seeds. */
export type Slot = readonly [index: number, choice: number];

/** Returns the mask of a slot. The second argument is the other point of the pair, in 33 bytes. */
export type Mask = (slot: Slot, other: Uint8Array) => InstanceType<typeof secp256k1.Point>;

const POINT_BYTES = 33;

/** Returns the mask of the protocol: bound to the session, the slot and the other point. */
export function boundMask(sid: Uint8Array): Mask {
  return (slot, other) => plainPoint(plainOracle('ecdsa/base-ot/mask', sid, Uint8Array.from(slot), other));
}

/**
 * Returns the mask without its binding to the other point, so that the receiver knows it before it
 * chooses that point.
 */
export function unboundMask(sid: Uint8Array): Mask {
  return (slot) => plainPoint(plainOracle('ecdsa/base-ot/mask', sid, Uint8Array.from(slot)));
}

/** Returns the two points that the receiver has sent for one OT. */
export function pairAt(choice: Uint8Array, index: number): readonly [Uint8Array, Uint8Array] {
  const start = 2 * index * POINT_BYTES;
  const [middle, end] = [start + POINT_BYTES, start + 2 * POINT_BYTES];
  return [choice.slice(start, middle), choice.slice(middle, end)];
}

/**
 * Returns the input with which a slot's key is hashed: the session, the slot, Y, and both points.
 */
export function plainSeed(
  sid: Uint8Array,
  slot: Slot,
  reported: { readonly offer: Uint8Array; readonly choice: Uint8Array; readonly key: Uint8Array },
): Uint8Array {
  const pair = concatBytes(...pairAt(reported.choice, slot[0]));
  return plainOracle('ecdsa/base-ot/seed', sid, Uint8Array.from(slot), reported.offer, pair, reported.key);
}

/** Returns the seed of a slot as the sender computes it under a mask. */
export function plainSenderSeed(
  sid: Uint8Array,
  slot: Slot,
  reported: { readonly secret: bigint; readonly choice: Uint8Array; readonly mask: Mask },
): Uint8Array {
  const { Point } = secp256k1;
  const pair = pairAt(reported.choice, slot[0]);
  const [mine, other] = slot[1] === 0 ? pair : [pair[1], pair[0]];
  const key = Point.fromBytes(mine).add(reported.mask(slot, other)).multiply(reported.secret);
  const offer = Point.BASE.multiply(reported.secret).toBytes(true);
  return plainSeed(sid, slot, { offer, choice: reported.choice, key: key.toBytes(true) });
}

/** Returns one seed of a batch, which stores each seed as eight big-endian words. */
export function seedAt(words: Int32Array, index: number): Uint8Array {
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 8; i++) view.setInt32(4 * i, words[8 * index + i] ?? 0);
  return bytes;
}
