import { expect, test } from 'vitest';
import { secretAt, WORDS, wordsOf, wordsOfSecret } from '#mpc/ecdsa/scalar-words.ts';
import { encodeScalar } from '#curve/scalar.ts';
import { SECRETS } from '#mpc/secp256k1.ts';
import { CORNERS, randomScalar, scalarAt } from '../secret-values.ts';

test('words and bytes are two views of one scalar', () => {
  for (const x of [...CORNERS, ...Array.from({ length: 2_000 }, randomScalar)]) {
    expect(scalarAt(wordsOf(x), 0)).toBe(x);
    expect(wordsOfSecret(SECRETS.of(x))).toEqual(wordsOf(x));
    const words = new Uint32Array(2 * WORDS);
    words.set(wordsOf(x), WORDS);
    expect(SECRETS.reveal(secretAt(words, WORDS))).toEqual(encodeScalar(x));
  }
});
