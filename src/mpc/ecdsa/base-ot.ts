import { bitAt } from '#mpc/ecdsa/bit-matrix.ts';
import type { ReceiverSeeds, SenderSeeds } from '#mpc/ecdsa/ot-extension.ts';
import { BASE_OTS, LANES } from '#mpc/ecdsa/parameters.ts';
import { WORDS } from '#mpc/ecdsa/scalar-words.ts';
import { encodePoint, freshBytes, parsePoint, Point, POINT_BYTES, SECRETS } from '#mpc/secp256k1.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';
import { taggedHash } from '#mpc/transcript.ts';

/**
 * 128 endemic OTs of Masny and Rindal (eprint 2019/706, the Diffie-Hellman instance in the random
 * oracle model), of random seeds. Both messages can travel in parallel. The extension swaps the
 * roles: the SENDER here, which gets both seeds of each OT, is the receiver there (Bob); the
 * RECEIVER here, whose choice bits are Delta, is the sender there (Alice).
 *
 * One y serves all 128 instances (0xCarbon does the same, eprint 2022/1525 page 18): each key is
 * hashed with its index.
 *
 * These are the base OTs of the initialisation in KOS15 figure 10. DKLs23 suggests another endemic
 * OT: docs/adr/protocol-departures.md, number 2.
 */
export const OFFER_BYTES = POINT_BYTES;
export const CHOICE_BYTES = BASE_OTS * 2 * POINT_BYTES;

export interface OfferedOts {
  readonly secret: SecretScalar;
  /** Y = y G. */
  readonly message: Uint8Array;
}

export interface ChosenOts {
  /** Delta, 16 bytes. */
  readonly choices: Uint8Array;
  readonly secrets: readonly SecretScalar[];
  /** r_0 and r_1 of each OT. */
  readonly message: Uint8Array;
}

/** Masny-Rindal, message of the sender: y random, Y = y G. */
export function offerOts(): OfferedOts {
  const secret = SECRETS.random();
  return { secret, message: encodePoint(Point.multiple(secret)) };
}

/**
 * Masny-Rindal, message of the receiver: for choice bit c, r_(1-c) is a random point and
 * r_c = t G - H_c(r_(1-c)). So (r_0, r_1) has the same distribution for both c, and by CDH no party
 * knows the logarithms behind both keys.
 */
export function chooseOts(sid: Uint8Array): ChosenOts {
  // KOS15 figure 10, initialisation: the extension sender draws Delta as its choice bits.
  const choices = freshBytes(BASE_OTS / 8);
  // Masny-Rindal: for each OT draw t and the other point, whose mask then hides t G.
  const secrets = Array.from({ length: BASE_OTS }, SECRETS.random);
  const others = secrets.map(() => encodePoint(Point.multiple(SECRETS.random())));
  const mine = secrets.map((t, i) =>
    encodePoint(Point.multiple(t).subtract(maskPoint(sid, [i, bitAt(choices, i)], others[i]!))),
  );
  // Masny-Rindal: send both points in the order of their slots. The exchange is by masks, so its
  // time does not depend on Delta.
  const message = new Uint8Array(CHOICE_BYTES);
  for (let i = 0; i < BASE_OTS; i++) {
    const mask = -bitAt(choices, i);
    const start = i * 2 * POINT_BYTES;
    for (let k = 0; k < POINT_BYTES; k++) {
      const swap = (mine[i]![k]! ^ others[i]![k]!) & mask;
      message[start + k] = mine[i]![k]! ^ swap;
      message[start + POINT_BYTES + k] = others[i]![k]! ^ swap;
    }
  }
  return { choices, secrets, message };
}

/**
 * Masny-Rindal, output of the sender: both seeds of each OT, y (r_s + H_s(r_(1-s))). Null when a
 * point is malformed or a sum is the identity.
 */
export function seedsOfSender(sid: Uint8Array, offered: OfferedOts, choice: Uint8Array): ReceiverSeeds | null {
  if (choice.length !== CHOICE_BYTES) return null;
  const zeros = new Int32Array(BASE_OTS * WORDS);
  const ones = new Int32Array(BASE_OTS * WORDS);
  for (let i = 0; i < BASE_OTS; i++) {
    // Remove from each point the mask that the other one gives, and multiply by y.
    const encoded = [0, 1].map((slot) => slotOf(choice, i, slot));
    const keys = [0, 1].map((slot) => {
      const point = parsePoint(encoded[slot]!);
      if (point === null) return null;
      const sum = point.add(maskPoint(sid, [i, slot], encoded[1 - slot]!));
      return sum.is0() ? null : sum.multiply(offered.secret);
    });
    const [first, second] = keys;
    if (first == null || second == null) return null;
    // The seed is a hash of the key. Ours: it also binds the messages of both parties.
    const transcript = [offered.message, choice.subarray(i * 2 * POINT_BYTES, (i + 1) * 2 * POINT_BYTES)] as const;
    putSeed(zeros, i, seedOf(sid, [i, 0], [...transcript, encodePoint(first)]));
    putSeed(ones, i, seedOf(sid, [i, 1], [...transcript, encodePoint(second)]));
  }
  return { zeros, ones };
}

/**
 * Masny-Rindal, output of the receiver: the one seed that it chose of each OT, t Y. Null when Y is
 * malformed.
 */
export function seedsOfReceiver(sid: Uint8Array, chosen: ChosenOts, offer: Uint8Array): SenderSeeds | null {
  const offered = parsePoint(offer);
  if (offered === null) return null;
  const keys = chosen.secrets.map((t) => encodePoint(offered.multiply(t)));
  const seeds = new Int32Array(BASE_OTS * WORDS);
  for (let i = 0; i < BASE_OTS; i++) {
    const points = chosen.message.subarray(i * 2 * POINT_BYTES, (i + 1) * 2 * POINT_BYTES);
    putSeed(seeds, i, seedOf(sid, [i, bitAt(chosen.choices, i)], [offer, points, keys[i]!]));
  }
  // KOS15 figure 10, initialisation: Delta and the 128 chosen seeds are the state of the sender.
  const delta = new Int32Array(LANES);
  for (let i = 0; i < BASE_OTS; i++) delta[i >> 5]! |= bitAt(chosen.choices, i) << (i & 31);
  return { delta, chosen: seeds };
}

/** H_s: bound to the session, the instance and its slot. */
function maskPoint(sid: Uint8Array, position: readonly [number, number], other: Uint8Array): Point {
  return Point.ofHash(taggedHash('ecdsa/base-ot/mask', sid, Uint8Array.from(position), other));
}

function seedOf(sid: Uint8Array, position: readonly [number, number], parts: readonly Uint8Array[]): Uint8Array {
  return taggedHash('ecdsa/base-ot/seed', sid, Uint8Array.from(position), ...parts);
}

function slotOf(choice: Uint8Array, index: number, slot: number): Uint8Array {
  const start = (2 * index + slot) * POINT_BYTES;
  return choice.subarray(start, start + POINT_BYTES);
}

/** Writes a seed as eight words, big-endian, as SHA-256 reads its input. */
function putSeed(words: Int32Array, index: number, seed: Uint8Array): void {
  const view = new DataView(seed.buffer, seed.byteOffset, seed.length);
  for (let i = 0; i < WORDS; i++) words[index * WORDS + i] = view.getInt32(4 * i);
}
