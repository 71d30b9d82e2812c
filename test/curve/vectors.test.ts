import { randomBytes } from '@noble/hashes/utils.js';
import { describe, expect, test } from 'vitest';
import { modOrder, ORDER } from '#curve/scalar.ts';
import { areScalars, chosen, corrected, fold, offset, reduced, selected, transposed } from '#curve/vectors.ts';
import { WORDS, wordsOf } from '#mpc/ecdsa/scalar-words.ts';
import { CORNERS, randomScalar, scalarAt } from '../mpc/secret-values.ts';

/** Compares the vectors of the module with BigInt, on edges and on random scalars. */

const INSTANCES = 416;
const LARGEST = (1n << 256n) - 1n;

/** Returns scalars. Two lists begin with every pair of corners, and then have random scalars. */
function scalars(count: number, cornerOf: (i: number) => number): readonly bigint[] {
  const corners = CORNERS.length ** 2;
  return Array.from({ length: count }, (_, i) => (i < corners ? CORNERS[cornerOf(i)]! : randomScalar()));
}

const firsts = (count: number) => scalars(count, (i) => i % CORNERS.length);
const seconds = (count: number) => scalars(count, (i) => Math.floor(i / CORNERS.length));

function packed(values: readonly bigint[]): Uint32Array {
  const words = new Uint32Array(values.length * WORDS);
  for (const [i, value] of values.entries()) words.set(wordsOf(value), i * WORDS);
  return words;
}

function unpacked(words: Uint32Array): readonly bigint[] {
  return Array.from({ length: words.length / WORDS }, (_, i) => scalarAt(words, i * WORDS));
}

const bitsOf = (bytes: Uint8Array) => (j: number) => BigInt((bytes[j >> 3]! >> (j & 7)) & 1);

/** Ten runs, each with other random scalars. */
describe.each(Array.from({ length: 10 }, (_, run) => run))('run %i', () => {
  const [a, b] = [firsts(INSTANCES * 4), seconds(INSTANCES * 4)];
  const c = [0n, ORDER - 1n, randomScalar(), randomScalar()];
  const bytes = randomBytes(78);
  const bit = bitsOf(bytes);

  test('a - b + c', () => {
    const expected = a.map((value, i) => modOrder(value - b[i]! + c[i % 4]!));
    expect(unpacked(offset(packed(a), packed(b), c.map(wordsOf)))).toEqual(expected);
  });

  test('a + b where the bit is one', () => {
    const expected = a.map((value, i) => modOrder(value + bit(i >> 2) * b[i]!));
    expect(unpacked(chosen(packed(a), packed(b), bytes))).toEqual(expected);
  });

  test('a - c where the bit is one', () => {
    const checks = a.slice(0, INSTANCES * 2);
    const expected = checks.map((value, i) => modOrder(value - bit(i >> 1) * c[(i % 2) + 1]!));
    expect(unpacked(corrected(packed(checks), c.slice(1, 3).map(wordsOf), bytes))).toEqual(expected);
  });

  test('the sum of a gadget where the bit is one', () => {
    const gadget = a.slice(0, INSTANCES);
    const expected = modOrder(gadget.reduce((sum, value, j) => sum + bit(j) * value, 0n));
    expect(unpacked(selected(packed(gadget), bytes))).toEqual([expected]);
  });

  test('the sums and the check values of a vector OLE', () => {
    const [gadget, theta] = [seconds(INSTANCES), [randomScalar(), 0n, ORDER - 1n, randomScalar()]];
    const { sums, checks } = fold(packed(gadget), packed(theta), packed(a));
    const sum = (i: number) => modOrder(gadget.reduce((total, g, j) => total + g * a[4 * j + i]!, 0n));
    const check = (j: number, k: number) =>
      modOrder(a[4 * j + 2 + k]! + theta[k]! * a[4 * j]! + theta[2 + k]! * a[4 * j + 1]!);
    expect(unpacked(sums)).toEqual([sum(0), sum(1)]);
    expect(unpacked(checks)).toEqual(Array.from({ length: INSTANCES * 2 }, (_, i) => check(i >> 1, i & 1)));
  });
});

test('numbers of 256 bits are reduced, above, at and below n', () => {
  const edges = [ORDER - 1n, ORDER, ORDER + 1n, LARGEST, LARGEST - 1n, 0n, (1n << 224n) - 1n, LARGEST - (1n << 200n)];
  const numbers = Array.from({ length: INSTANCES * 4 }, (_, i) => edges[i % edges.length]!);
  expect(unpacked(reduced(packed(numbers)))).toEqual(numbers.map((number) => number % ORDER));
});

test('one number of n or more among all is found', () => {
  expect(areScalars(packed(firsts(INSTANCES * 4)))).toBe(true);
  for (const at of [0, 1, 831, 832, INSTANCES * 4 - 1]) {
    for (const [value, isScalar] of [
      [ORDER - 1n, true],
      [ORDER, false],
      [ORDER + 1n, false],
      [LARGEST, false],
    ] as const) {
      const numbers = firsts(INSTANCES * 4).with(at, value);
      expect([at, value, areScalars(packed(numbers))]).toEqual([at, value, isScalar]);
    }
  }
});

test('the transposed matrix has bit j of row i as bit i of vector j', () => {
  const rows = new Int32Array(randomBytes(128 * 32 * 4).buffer);
  const vectors = transposed(rows);
  let wrong = 0;
  for (let i = 0; i < 128; i++) {
    for (let j = 0; j < 624; j++) {
      const before = (rows[i * 32 + (j >> 5)]! >>> (j & 31)) & 1;
      const after = (vectors[j * 4 + (i >> 5)]! >>> (i & 31)) & 1;
      wrong += before ^ after;
    }
  }
  expect([vectors.length, wrong]).toEqual([624 * 4, 0]);
});
