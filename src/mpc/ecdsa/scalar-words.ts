import { SecretScalar } from '#mpc/secret-scalar.ts';

/**
 * Scalars as eight 32-bit words in a row, least significant first, for the 1,664 pads of a vector
 * OLE. The arithmetic is in curve/vectors.ts.
 */
export const WORDS = 8;

/** Returns the words of a secret scalar of 32 bytes, big-endian. */
export function wordsOfSecret({ secretBytes }: SecretScalar): Uint32Array {
  const words = new Uint32Array(WORDS);
  const view = new DataView(secretBytes.buffer, secretBytes.byteOffset, secretBytes.length);
  for (let i = 0; i < WORDS; i++) words[i] = view.getUint32(4 * (WORDS - 1 - i));
  return words;
}

/** Returns the secret scalar in eight words, which are below the order. */
export function secretAt(words: Uint32Array, at: number): SecretScalar {
  const bytes = new Uint8Array(4 * WORDS);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < WORDS; i++) view.setUint32(4 * (WORDS - 1 - i), words[at + i]!);
  return new SecretScalar(bytes);
}

/** Returns the words of a public scalar. */
export function wordsOf(value: bigint): Uint32Array {
  const words = new Uint32Array(WORDS);
  for (let i = 0; i < WORDS; i++) words[i] = Number((value >> BigInt(32 * i)) & 0xffffffffn);
  return words;
}
