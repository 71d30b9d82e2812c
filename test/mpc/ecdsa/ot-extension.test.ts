import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { bitAt, ROW_WORDS, rowMatrix, transpose } from '#mpc/ecdsa/bit-matrix.ts';
import { extendAsReceiver, extendAsSender, otherChoice, padsOf } from '#mpc/ecdsa/ot-extension.ts';
import { WIDTH } from '#mpc/ecdsa/parameters.ts';
import { allCanonical } from '#mpc/ecdsa/scalar-words.ts';
import { dealPair, party } from '../dealt-key.ts';

const [bob, alice] = dealPair(party(1), party(2));
const { delta } = alice.asAlice;

test('the transposed matrix has bit j of row i as bit i of vector j', () => {
  const rows = rowMatrix();
  rows.set(new Int32Array(randomBytes(rows.byteLength).buffer));
  const vectors = transpose(rows);
  let wrong = 0;
  for (let i = 0; i < 128; i++) {
    for (let j = 0; j < 624; j++) {
      const before = (rows[i * ROW_WORDS + (j >> 5)]! >>> (j & 31)) & 1;
      const after = (vectors[j * 4 + (i >> 5)]! >>> (i & 31)) & 1;
      wrong += before ^ after;
    }
  }
  expect(wrong).toBe(0);
});

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

test("the receiver's pad is the sender's pad of its choice, never the other, and no pad comes twice", () => {
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
  expect(allCanonical(chosen!)).toBe(true);
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
    const place = new DataView(randomBytes(4).buffer).getUint32(0);
    if (i % 3 === 0) u[place % u.length]! ^= 1 << (i & 31);
    if (i % 3 === 1) x[place % x.length]! ^= 1 << (i & 7);
    if (i % 3 === 2) t[place % t.length]! ^= 1 << (i & 31);
    expect(extendAsSender(sid, alice.asAlice, { u, x, t })).toBeNull();
  }
});
