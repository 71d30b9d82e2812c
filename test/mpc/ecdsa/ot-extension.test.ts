import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { bitAt } from '#mpc/ecdsa/bit-matrix.ts';
import { extendAsReceiver, extendAsSender, otherChoice, padsOf } from '#mpc/ecdsa/ot-extension.ts';
import { BASE_OTS, EXTENDED_INSTANCES, LANES, OT_INSTANCES, WIDTH } from '#mpc/ecdsa/parameters.ts';
import { ORDER } from '#curve/scalar.ts';
import { areScalars } from '#curve/vectors.ts';
import { dealPair, party } from '../dealt-key.ts';
import { scalarAt } from '../secret-values.ts';

const [bob, alice] = dealPair(party(1), party(2));
const { delta } = alice.asAlice;

test('the two sides are correlated: q_j = t_j + x_j Delta', () => {
  const sid = randomBytes(32);
  const receiver = extendAsReceiver(sid, bob.asBob);
  const sender = extendAsSender(sid, alice.asAlice, receiver.message);
  expect(sender).not.toBeNull();
  expect(sender!.transcript).toEqual(receiver.transcript);
  for (let j = 0; j < 624; j++) {
    const mask = -bitAt(receiver.choices, j);
    for (let lane = 0; lane < 4; lane++) {
      expect(sender!.vectors[j * 4 + lane]! ^ (delta[lane]! & mask)).toBe(receiver.vectors[j * 4 + lane]);
    }
  }
});

test("the receiver's pad is the sender's pad of its choice, never the other, and no pad is repeated", () => {
  const sid = randomBytes(32);
  const receiver = extendAsReceiver(sid, bob.asBob);
  const q = extendAsSender(sid, alice.asAlice, receiver.message)!.vectors;
  const [chosen, zeros, ones] = [receiver.vectors, q, otherChoice(q, delta)].map((vectors) => padsOf(sid, vectors));
  const seen = new Set<string>();
  for (let pad = 0; pad < 416 * WIDTH; pad++) {
    const bit = bitAt(receiver.choices, Math.floor(pad / WIDTH));
    const at = (pads: Uint32Array): string => pads.subarray(8 * pad, 8 * pad + 8).join();
    expect(at(chosen!)).toBe(at(bit === 1 ? ones! : zeros!));
    expect(at(chosen!)).not.toBe(at(bit === 1 ? zeros! : ones!));
    seen.add(at(zeros!)).add(at(ones!));
  }
  expect(seen.size).toBe(2 * 416 * WIDTH);
  expect(areScalars(chosen!)).toBe(true);
});

test('another sid gives other vectors and pads from the same seeds', () => {
  const first = extendAsReceiver(randomBytes(32), bob.asBob);
  const second = extendAsReceiver(randomBytes(32), bob.asBob);
  expect(first.vectors).not.toEqual(second.vectors);
  expect(padsOf(randomBytes(32), first.vectors)).not.toEqual(padsOf(randomBytes(32), first.vectors));
});

test('a message made under another sid fails the check', () => {
  const { message } = extendAsReceiver(randomBytes(32), bob.asBob);
  expect(extendAsSender(randomBytes(32), alice.asAlice, message)).toBeNull();
});

test('one flipped bit anywhere in u, x or t fails the check', () => {
  const sid = randomBytes(32);
  const { message } = extendAsReceiver(sid, bob.asBob);
  for (let i = 0; i < 40; i++) {
    const [u, x, t] = [message.u.slice(), message.x.slice(), message.t.slice()];
    const position = new DataView(randomBytes(4).buffer).getUint32(0);
    if (i % 3 === 0) u[position % u.length]! ^= 1 << (i & 31);
    if (i % 3 === 1) x[position % x.length]! ^= 1 << (i & 7);
    if (i % 3 === 2) t[position % t.length]! ^= 1 << (i & 31);
    expect(extendAsSender(sid, alice.asAlice, { u, x, t })).toBeNull();
  }
});

/**
 * Computes the oracle from plain SHA-256, without the code that both sides share. Co-signers of two
 * versions sign together, so a changed oracle would make one take the other for a cheater.
 */
function oracle(tag: string, sid: Uint8Array, index: readonly [number, number], words: Int32Array): Uint8Array {
  const name = sha256(utf8ToBytes(`conclave/mpc/v1/${tag}`));
  const bound = sha256(concatBytes(name, name, Uint8Array.of(0, 0, 0, sid.length), sid));
  const [i, k] = index;
  const data = new DataView(new ArrayBuffer(4 * words.length));
  for (const [at, word] of words.entries()) data.setInt32(4 * at, word);
  return sha256(concatBytes(bound, bound, Uint8Array.of(0, i >> 8, i, k), new Uint8Array(data.buffer)));
}

test("each pad is the oracle's value for its tag, instance and index", () => {
  const sid = randomBytes(32);
  const vectors = new Int32Array(randomBytes(4 * EXTENDED_INSTANCES * LANES).buffer);
  const pads = padsOf(sid, vectors);
  expect(pads.length).toBe(OT_INSTANCES * WIDTH * 8);
  for (let j = 0; j < OT_INSTANCES; j++) {
    for (let k = 0; k < WIDTH; k++) {
      const digest = oracle('ecdsa/ot-extension/pad', sid, [j, k], vectors.subarray(j * LANES, (j + 1) * LANES));
      // The first word of the digest is the least significant one of the scalar.
      const view = new DataView(digest.buffer);
      const words = Array.from({ length: 8 }, (_, i) => BigInt(view.getUint32(4 * i)) << BigInt(32 * i));
      expect(scalarAt(pads, 8 * (j * WIDTH + k))).toBe(words.reduce((sum, word) => sum + word, 0n) % ORDER);
    }
  }
});

test("the vectors are the PRG oracle's values for the seeds, bit for bit", () => {
  const sid = randomBytes(32);
  const { zeros } = bob.asBob;
  const { vectors } = extendAsReceiver(sid, bob.asBob);
  for (let i = 0; i < BASE_OTS; i++) {
    const seed = zeros.subarray(8 * i, 8 * (i + 1));
    const row = concatBytes(...[0, 1, 2].map((block) => oracle('ecdsa/ot-extension/prg', sid, [i, block], seed)));
    const words = new DataView(row.buffer);
    const differs = Array.from({ length: EXTENDED_INSTANCES }, (_, j) => j).filter((j) => {
      const expected = (words.getUint32(4 * (j >> 5)) >>> (j & 31)) & 1;
      return ((vectors[j * LANES + (i >> 5)]! >>> (i & 31)) & 1) !== expected;
    });
    expect(differs).toEqual([]);
  }
});

test('vectors and seeds of another length are refused', () => {
  expect(() => padsOf(randomBytes(32), new Int32Array(100))).toThrow('more pads than');
  const short = { zeros: bob.asBob.zeros.subarray(8), ones: bob.asBob.ones };
  expect(() => extendAsReceiver(randomBytes(32), short)).toThrow('more rows than');
});
