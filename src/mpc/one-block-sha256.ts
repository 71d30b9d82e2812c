/**
 * SHA-256 of a 64-byte prefix and one short block after it, with the prefix hashed once (a midstate).
 *
 * Why hand-written: one 2-of-3 signature takes 12,288 such hashes (the PRG and the pads of the OT extension), all on fixed
 * lengths. noble pays for a clone, a buffer and a digest per call: 1.17 us in workerd against 0.3 us here, which is 10 ms
 * of a signature that takes 20. node:crypto is slower than noble at this size (3 us) and crypto.subtle is asynchronous.
 * Rejected: a full unroll of the 64 rounds (20 % faster, but 300 lines that nobody would review); a faster hash
 * (the paper's random oracle stays the one hash we already trust).
 *
 * Why it may stand: it is plain FIPS 180-4, it holds no state between calls, and test/mpc/one-block-sha256.test.ts compares
 * it with noble and with node:crypto on every length it supports. All other hashing stays with noble.
 */

/** The message after the prefix: a 4-byte index and up to 12 words, so that padding fits the same block (55 bytes). */
export const LONGEST_DATA_WORDS = 12;

/** FIPS 180-4, section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
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

/** Scratch of one synchronous call; `wipeScratch` clears it, for it has held seeds. */
const schedule = new Int32Array(64);

/** The state after the prefix: eight words. */
export type Midstate = Int32Array & { readonly __brand: 'Midstate' };

/** Hashes the 64-byte prefix once. */
export function midstate(prefix: Uint8Array): Midstate {
  if (prefix.length !== 64) throw new Error('a midstate is taken after exactly one block');
  const view = new DataView(prefix.buffer, prefix.byteOffset, 64);
  for (let i = 0; i < 16; i++) schedule[i] = view.getInt32(4 * i);
  const state = new Int32Array(8);
  compress(INITIAL, state, 0);
  return state as Midstate;
}

/** `words` words of `buffer` from word `offset`: what to hash, or where the eight words of a digest go. */
export interface WordSlice {
  readonly buffer: Int32Array;
  offset: number;
  readonly words: number;
}

/**
 * SHA-256(prefix || index || data), where index and the words of data are 4 bytes big-endian each. Writes the eight words of
 * the digest to `out`. The caller proves its offsets: a typed array reads 0 beyond its end and drops what is written there.
 */
export function hashIndexed(
  prefix: Midstate,
  index: number,
  slices: { readonly data: WordSlice; readonly out: WordSlice },
): void {
  const { data, out } = slices;
  const { buffer, offset, words } = data;
  if (words > LONGEST_DATA_WORDS) throw new Error('does not fit one block');
  schedule[0] = index;
  for (let i = 0; i < words; i++) schedule[1 + i] = buffer[offset + i]!;
  // FIPS 180-4, section 5.1.1: one bit 1, zeros, the length in bits (prefix, index, data).
  schedule[1 + words] = 0x80000000;
  for (let i = 2 + words; i < 15; i++) schedule[i] = 0;
  schedule[15] = (64 + 4 + 4 * words) * 8;
  compress(prefix, out.buffer, out.offset);
}

/** Clears the message schedule. Call it when a batch of secret inputs is done. */
export function wipeScratch(): void {
  schedule.fill(0);
}

/** FIPS 180-4, section 6.2.2, step 1: the words 16 to 63 of the message schedule. */
function expandSchedule(): void {
  const w = schedule;
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
  }
}

/**
 * FIPS 180-4, section 6.2.2, steps 2 to 4. Four rounds stand in the loop, so that the working variables change places by name
 * and not by seven moves a round. In each: T1 goes into the last variable, then d + T1, then T1 + T2; Ch and Maj are in
 * their shorter equal forms.
 */
function compress(before: Int32Array, after: Int32Array, offset: number): void {
  expandSchedule();
  const w = schedule;
  const k = ROUND_CONSTANTS;
  let a = before[0]!;
  let b = before[1]!;
  let c = before[2]!;
  let d = before[3]!;
  let e = before[4]!;
  let f = before[5]!;
  let g = before[6]!;
  let h = before[7]!;
  for (let i = 0; i < 64; i += 4) {
    h = (h + k[i]! + w[i]! + (g ^ (e & (f ^ g)))) | 0;
    h = (h + (((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7)))) | 0;
    d = (d + h) | 0;
    h = (h + ((a & b) | (c & (a | b)))) | 0;
    h = (h + (((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10)))) | 0;

    g = (g + k[i + 1]! + w[i + 1]! + (f ^ (d & (e ^ f)))) | 0;
    g = (g + (((d >>> 6) | (d << 26)) ^ ((d >>> 11) | (d << 21)) ^ ((d >>> 25) | (d << 7)))) | 0;
    c = (c + g) | 0;
    g = (g + ((h & a) | (b & (h | a)))) | 0;
    g = (g + (((h >>> 2) | (h << 30)) ^ ((h >>> 13) | (h << 19)) ^ ((h >>> 22) | (h << 10)))) | 0;

    f = (f + k[i + 2]! + w[i + 2]! + (e ^ (c & (d ^ e)))) | 0;
    f = (f + (((c >>> 6) | (c << 26)) ^ ((c >>> 11) | (c << 21)) ^ ((c >>> 25) | (c << 7)))) | 0;
    b = (b + f) | 0;
    f = (f + ((g & h) | (a & (g | h)))) | 0;
    f = (f + (((g >>> 2) | (g << 30)) ^ ((g >>> 13) | (g << 19)) ^ ((g >>> 22) | (g << 10)))) | 0;

    e = (e + k[i + 3]! + w[i + 3]! + (d ^ (b & (c ^ d)))) | 0;
    e = (e + (((b >>> 6) | (b << 26)) ^ ((b >>> 11) | (b << 21)) ^ ((b >>> 25) | (b << 7)))) | 0;
    a = (a + e) | 0;
    e = (e + ((f & g) | (h & (f | g)))) | 0;
    e = (e + (((f >>> 2) | (f << 30)) ^ ((f >>> 13) | (f << 19)) ^ ((f >>> 22) | (f << 10)))) | 0;

    // Every name has moved by four places: the halves change places.
    let moved = a;
    a = e;
    e = moved;
    moved = b;
    b = f;
    f = moved;
    moved = c;
    c = g;
    g = moved;
    moved = d;
    d = h;
    h = moved;
  }
  after[offset] = before[0]! + a;
  after[offset + 1] = before[1]! + b;
  after[offset + 2] = before[2]! + c;
  after[offset + 3] = before[3]! + d;
  after[offset + 4] = before[4]! + e;
  after[offset + 5] = before[5]! + f;
  after[offset + 6] = before[6]! + g;
  after[offset + 7] = before[7]! + h;
}

/** A table as the standard prints it. */
function tableOf(...rows: readonly string[]): Int32Array {
  return Int32Array.from(rows.join(' ').split(' '), (word) => Number.parseInt(word, 16));
}
