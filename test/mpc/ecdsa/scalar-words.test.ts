import { expect, test } from 'vitest';
import {
  addMasked,
  allCanonical,
  reduceWords,
  secretAt,
  subtractMasked,
  WORDS,
  wordsOf,
  wordsOfSecret,
} from '#mpc/ecdsa/scalar-words.ts';
import { encodeScalar, modOrder, ORDER } from '#curve/scalar.ts';
import { SECRETS } from '#mpc/secp256k1.ts';
import { randomScalar, scalarAt } from '../secret-values.ts';

const CORNERS = [
  0n,
  1n,
  2n,
  (1n << 32n) - 1n,
  1n << 32n,
  (1n << 128n) - 1n,
  1n << 255n,
  ORDER - (1n << 128n),
  ORDER - 2n,
  ORDER - 1n,
];

function pairs(): readonly (readonly [bigint, bigint])[] {
  const all = CORNERS.flatMap((x) => CORNERS.map((y) => [x, y] as const));
  for (let i = 0; i < 2_000; i++) all.push([randomScalar(), randomScalar()]);
  return all;
}

function valueOf(words: Uint32Array, at = 0): bigint {
  return scalarAt(words, at);
}

test('words and bytes are two views of one scalar', () => {
  for (const [x] of pairs()) {
    expect(valueOf(wordsOf(x))).toBe(x);
    expect(wordsOfSecret(SECRETS.of(x))).toEqual(wordsOf(x));
    const words = new Uint32Array(2 * WORDS);
    words.set(wordsOf(x), WORDS);
    expect(SECRETS.reveal(secretAt(words, WORDS))).toEqual(encodeScalar(x));
  }
});

test('a masked addition adds modulo n under a mask of ones, and changes nothing under a mask of zeros', () => {
  for (const [x, y] of pairs()) {
    const sum = wordsOf(x);
    addMasked(sum, 0, { words: wordsOf(y), at: 0 }, -1);
    expect(valueOf(sum)).toBe(modOrder(x + y));
    const same = wordsOf(x);
    addMasked(same, 0, { words: wordsOf(y), at: 0 }, 0);
    expect(valueOf(same)).toBe(x);
  }
});

test('a masked subtraction subtracts modulo n under a mask of ones, and changes nothing under a mask of zeros', () => {
  for (const [x, y] of pairs()) {
    const difference = wordsOf(x);
    subtractMasked(difference, 0, { words: wordsOf(y), at: 0 }, -1);
    expect(valueOf(difference)).toBe(modOrder(x - y));
    const same = wordsOf(x);
    subtractMasked(same, 0, { words: wordsOf(y), at: 0 }, 0);
    expect(valueOf(same)).toBe(x);
  }
});

test('a value of 256 bits is reduced, above, at and below n', () => {
  const largest = (1n << 256n) - 1n;
  for (const x of [
    ORDER - 1n,
    ORDER,
    ORDER + 1n,
    largest,
    largest - 1n,
    0n,
    (1n << 224n) - 1n,
    largest - (1n << 200n),
  ]) {
    const words = wordsOf(x);
    reduceWords(words, 0);
    expect(valueOf(words)).toBe(x % ORDER);
  }
});

test('one scalar of n or more among many is detected', () => {
  const words = new Uint32Array(5 * WORDS);
  expect(allCanonical(words)).toBe(true);
  for (let at = 0; at < words.length; at += WORDS) {
    for (const [value, canonical] of [
      [ORDER - 1n, true],
      [ORDER, false],
      [ORDER + 1n, false],
      [(1n << 256n) - 1n, false],
    ] as const) {
      const tampered = words.slice();
      tampered.set(wordsOf(value), at);
      expect(allCanonical(tampered)).toBe(canonical);
    }
  }
});
