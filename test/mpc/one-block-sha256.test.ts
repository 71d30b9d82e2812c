import { createHash } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { hashIndexed, LONGEST_DATA_WORDS, midstate, wipeScratch } from '#mpc/one-block-sha256.ts';

/** LONG=1 npx vitest run test/mpc/one-block-sha256.test.ts compares a million. */
const ROUNDS = process.env['LONG'] === '1' ? 1_000_000 : 6_500;

interface Sample {
  readonly prefix: Uint8Array;
  readonly index: number;
  readonly data: Uint8Array;
}

function fused({ prefix, index, data }: Sample, offset = 0): Uint8Array {
  const words = data.length / 4;
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const buffer = new Int32Array(offset + words);
  for (let i = 0; i < words; i++) buffer[offset + i] = view.getInt32(4 * i);
  const out = new Int32Array(offset + 8);
  hashIndexed(midstate(prefix), index, { data: { buffer, offset, words }, out: { buffer: out, offset, words: 8 } });
  const digest = new Uint8Array(32);
  const digestView = new DataView(digest.buffer);
  for (let i = 0; i < 8; i++) digestView.setInt32(4 * i, out[offset + i]!);
  return digest;
}

function whole({ prefix, index, data }: Sample): Uint8Array {
  return concatBytes(prefix, Uint8Array.of(index >>> 24, index >>> 16, index >>> 8, index), data);
}

/** Plain loops: a million expect() calls take minutes. */
function same(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}

test('on every supported length, random inputs hash as noble and node:crypto hash them', () => {
  for (let i = 0; i < ROUNDS; i++) {
    const prefix = randomBytes(64);
    const index = new DataView(randomBytes(4).buffer).getUint32(0);
    const sample = { prefix, index, data: randomBytes(4 * (i % (LONGEST_DATA_WORDS + 1))) };
    const got = fused(sample, i % 3);
    const message = whole(sample);
    if (!same(got, sha256(message)) || !same(got, createHash('sha256').update(message).digest())) {
      expect.fail(`differs on ${Buffer.from(message).toString('hex')}`);
    }
  }
});

test('on every supported length, the corner words hash as noble hashes them', () => {
  for (let words = 0; words <= LONGEST_DATA_WORDS; words++) {
    for (const fill of [0x00, 0xff, 0x80, 0x7f, 0x01]) {
      for (const index of [0, 1, 0x7fffffff, 0x80000000, 0xffffffff]) {
        const sample = { prefix: new Uint8Array(64).fill(fill), index, data: new Uint8Array(4 * words).fill(fill) };
        expect(fused(sample)).toEqual(sha256(whole(sample)));
      }
    }
  }
});

test('a digest does not depend on what was hashed before it, nor on a wiped scratch', () => {
  const sample = { prefix: randomBytes(64), index: 7, data: randomBytes(16) };
  const first = fused(sample);
  fused({ prefix: randomBytes(64), index: 9, data: randomBytes(48) });
  wipeScratch();
  expect(fused(sample)).toEqual(first);
});

test('data that does not fit the one block is refused', () => {
  const data = new Uint8Array(4 * (LONGEST_DATA_WORDS + 1));
  expect(() => fused({ prefix: new Uint8Array(64), index: 0, data })).toThrow('does not fit');
});

test('a prefix of any other length than one block is refused', () => {
  for (const length of [0, 63, 65, 128]) expect(() => midstate(new Uint8Array(length))).toThrow('exactly one block');
});
