import { createHash } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { FOLD, hashFourfold, MAX_DATA_WORDS, type Midstate, midstate } from '#mpc/wasm/one-block-sha256.ts';

/** LONG=1 npx vitest run test/mpc/wasm/one-block-sha256.test.ts compares a million digests. */
const DIGESTS = process.env['LONG'] === '1' ? 1_000_000 : 6_500;

/** Returns all four digests of each datum, computed from views with a non-zero offset. */
function folded(prefix: Uint8Array, data: readonly Uint8Array[]): readonly Uint8Array[] {
  return foldedFrom(midstate(concatBytes(randomBytes(3), prefix).subarray(3)), data);
}

function foldedFrom(state: Midstate, data: readonly Uint8Array[]): readonly Uint8Array[] {
  const words = (data[0]?.length ?? 0) / 4;
  const buffer = new Int32Array(5 + data.length * words).fill(-1).subarray(5);
  for (const [i, datum] of data.entries()) {
    const view = new DataView(datum.buffer, datum.byteOffset, datum.length);
    for (let k = 0; k < words; k++) buffer[i * words + k] = view.getInt32(4 * k);
  }
  const digests = hashFourfold(state, buffer, words);
  const bytes = new DataView(new ArrayBuffer(digests.byteLength));
  for (const [i, word] of digests.entries()) bytes.setInt32(4 * i, word);
  const count = digests.length / 8;
  return Array.from({ length: count }, (_, i) => new Uint8Array(bytes.buffer, 32 * i, 32));
}

/** Returns the message of digest k of datum i, in bytes. */
function whole(prefix: Uint8Array, data: readonly Uint8Array[], digest: number): Uint8Array {
  const [i, k] = [Math.floor(digest / FOLD), digest % FOLD];
  return concatBytes(prefix, Uint8Array.of(i >>> 16, i >>> 8, i, k), data[i] ?? new Uint8Array());
}

/** Plain loops are used because a million expect() calls take minutes. */
function same(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}

test('random inputs of every supported length have the same hash as with noble and node:crypto', () => {
  let compared = 0;
  for (let round = 0; compared < DIGESTS || round <= MAX_DATA_WORDS; round++) {
    const words = 1 + (round % MAX_DATA_WORDS);
    const count = round < MAX_DATA_WORDS ? Math.min(896, Math.floor(3584 / words)) : 1 + (round % 5);
    const prefix = randomBytes(64);
    const data = Array.from({ length: count }, () => randomBytes(4 * words));
    for (const [digest, got] of folded(prefix, data).entries()) {
      const message = whole(prefix, data, digest);
      if (!same(got, sha256(message)) || !same(got, createHash('sha256').update(message).digest())) {
        expect.fail(`differs on ${Buffer.from(message).toString('hex')}`);
      }
      compared++;
    }
  }
});

test('edge-case words of every supported length have the same hash as with noble', () => {
  for (let words = 1; words <= MAX_DATA_WORDS; words++) {
    for (const fill of [0x00, 0xff, 0x80, 0x7f, 0x01]) {
      const prefix = new Uint8Array(64).fill(fill);
      const data = [new Uint8Array(4 * words).fill(fill), new Uint8Array(4 * words).fill(~fill)];
      expect(folded(prefix, data)).toEqual(Array.from({ length: 8 }, (_, i) => sha256(whole(prefix, data, i))));
    }
  }
});

test('a digest depends on neither earlier digests nor their lengths', () => {
  const [prefix, datum] = [randomBytes(64), randomBytes(16)];
  const first = folded(prefix, [datum]);
  for (let words = MAX_DATA_WORDS; words > 0; words--) folded(randomBytes(64), [randomBytes(4 * words)]);
  expect(folded(prefix, [datum])).toEqual(first);
});

test('a midstate can be kept and used again after others were used', () => {
  const [prefixes, datum] = [[randomBytes(64), randomBytes(64)] as const, randomBytes(8)];
  const states = [midstate(prefixes[0]), midstate(prefixes[1])] as const;
  const expected = prefixes.map((prefix) => Array.from({ length: FOLD }, (_, k) => sha256(whole(prefix, [datum], k))));
  const first = hashFourfold(states[0], Int32Array.of(1, 2), 1);
  const kept = first.slice();
  for (const one of [0, 1, 0, 0, 1] as const) expect(foldedFrom(states[one], [datum])).toEqual(expected[one]);
  expect(first).toEqual(kept);
});

test('data of an unsupported length are refused', () => {
  const state = midstate(new Uint8Array(64));
  const refused = (length: number, words: number) => () => hashFourfold(state, new Int32Array(length), words);
  expect(refused(MAX_DATA_WORDS + 1, MAX_DATA_WORDS + 1)).toThrow('one block');
  expect(refused(0, 0)).toThrow('one block');
  expect(refused(0, 4)).toThrow('another length');
  expect(refused(5, 4)).toThrow('another length');
  expect(refused(897, 1)).toThrow('too many');
  expect(refused(3588, 12)).toThrow('too many');
  expect(refused(896, 1)).not.toThrow();
  expect(refused(3584, 8)).not.toThrow();
});

test('a prefix of any other length than one block is refused', () => {
  for (const length of [0, 63, 65, 128]) expect(() => midstate(new Uint8Array(length))).toThrow('exactly one block');
});
