import { engineOf } from '#curve/engine.ts';
import code from '#mpc/wasm/one-block-sha256.wasm';

/**
 * SHA-256 of a 64-byte prefix and one short block after it, with the prefix hashed once (a
 * midstate), of four messages at once.
 *
 * Why it is hand-written: one 2-of-3 signature takes 13,056 such hashes (the PRG and the pads of
 * the OT extension; one hash of each PRG row is unused), all on fixed lengths. noble pays for a
 * clone, a buffer and a digest per call: 1.17 us in workerd; node:crypto is slower than noble at
 * this size (3 us) and crypto.subtle is asynchronous. The same in JavaScript took 0.27 us per
 * digest; with the vectors of WebAssembly it takes 0.1 us, and a signature takes a tenth less.
 * Rejected: a faster hash (the paper's random oracle stays the one hash that we already trust); a
 * language that compiles to WebAssembly (one-block-sha256.wat is exactly the code that runs,
 * instruction by instruction).
 *
 * Why it is acceptable: it is plain FIPS 180-4, it keeps no secret between calls, no branch and no
 * address depends on the hashed data, and test/mpc/wasm/one-block-sha256.test.ts compares it with
 * noble and with node:crypto on every length that it supports. noble does all other hashing.
 */

/**
 * The message after the prefix: a 4-byte index and up to 12 words, so that padding fits the same
 * block (55 bytes).
 */
export const MAX_DATA_WORDS = 12;

/** Digests of one datum: a vector of 128 bits has four lanes. */
export const FOLD = 4;

/**
 * FIPS 180-4, section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the
 * first 64 primes.
 */
const ROUND_CONSTANTS = tableOf(
  '428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5',
  'd807aa98 12835b01 243185be 550c7dc3 72be5d74 80deb1fe 9bdc06a7 c19bf174',
  'e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da',
  '983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967',
  '27b70a85 2e1b2138 4d2c6dfc 53380d13 650a7354 766a0abb 81c2c92e 92722c85',
  'a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070',
  '19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3',
  '748f82ee 78a5636f 84c87814 8cc70208 90befffa a4506ceb bef9a3f7 c67178f2',
);

/** FIPS 180-4, section 5.3.3: the initial hash value. */
const INITIAL = tableOf('6a09e667 bb67ae85 3c6ef372 a54ff53a 510e527f 9b05688c 1f83d9ab 5be0cd19');

const DIGEST_WORDS = 8;

/** The layout of the memory of the code, in words; one-block-sha256.wat has the same in bytes. */
const AT = { prefix: 72, data: 512, digests: 4096, end: 32_768 } as const;

interface Functions {
  /** Hashes the 16 words of a block at `data` into the 8 words of its state at `prefix`. */
  readonly absorbPrefix: () => void;
  /** Both arguments are at least 1. */
  readonly digest: (words: number, count: number) => void;
}

const engine = engineOf<Functions>(code, Int32Array.of(...ROUND_CONSTANTS, ...INITIAL));

/** The state after the prefix: eight words. */
export type Midstate = Int32Array & { readonly __brand: 'Midstate' };

/** Hashes the 64-byte prefix once. */
export function midstate(prefix: Uint8Array): Midstate {
  if (prefix.length !== 64) throw new Error('the prefix of a midstate is not exactly one block');
  const { memory, absorbPrefix } = engine();
  const view = new DataView(prefix.buffer, prefix.byteOffset, 64);
  for (let i = 0; i < 16; i++) memory[AT.data + i] = view.getInt32(4 * i);
  absorbPrefix();
  return memory.slice(AT.prefix, AT.prefix + DIGEST_WORDS) as Midstate;
}

/**
 * Returns four digests of each datum, one after the other, 8 words each: for datum i they are
 * SHA-256(prefix || i << 8 | k || datum) for k = 0 to 3, where the index and the words of a datum
 * are 4 bytes big-endian each. The hashed data is wiped afterwards.
 *
 * Throws for data that do not fit one block, are not a whole number of datums, or exceed the
 * memory: 896 data and 3,584 words.
 *
 * @param data all data in a row, each of `words` words
 */
export function hashFourfold(prefix: Midstate, data: Int32Array, words: number): Int32Array {
  if (words < 1 || words > MAX_DATA_WORDS) throw new Error('does not fit one block');
  const count = data.length / words;
  const end = AT.digests + count * FOLD * DIGEST_WORDS;
  if (!Number.isInteger(count) || count < 1) throw new Error('data of another length');
  if (AT.data + data.length > AT.digests || end > AT.end) throw new Error('too many data');
  const { memory, digest } = engine();
  try {
    memory.set(prefix, AT.prefix);
    memory.set(data, AT.data);
    digest(words, count);
    return memory.slice(AT.digests, end);
  } finally {
    memory.fill(0, AT.prefix, end);
  }
}

/** Parses a table as the standard prints it. */
function tableOf(...rows: readonly string[]): Int32Array {
  return Int32Array.from(rows.join(' ').split(' '), (word) => Number.parseInt(word, 16));
}
