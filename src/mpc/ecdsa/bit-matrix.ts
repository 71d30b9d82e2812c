import { EXTENDED_INSTANCES, LANES } from '#mpc/ecdsa/parameters.ts';

/** Words of one PRG row: four digests. 624 bits are used; the last 12.5 words are not. */
export const ROW_WORDS = 32;

/** Returns bit i of a packed bit string, least significant first in each byte. */
export function bitAt(bits: Uint8Array, index: number): number {
  return (bits[index >> 3]! >> (index & 7)) & 1;
}

/**
 * Transposes 128 rows (one per base OT) into 624 vectors of 4 words (one per OT instance): bit i of
 * vector j is bit j of row i, both counted from the least significant bit of word 0. It works in 32
 * x 32 blocks, and no branch or address depends on the bits.
 */
export function transpose(rows: Int32Array): Int32Array {
  const vectors = new Int32Array(EXTENDED_INSTANCES * LANES);
  const block = new Int32Array(32);
  for (let lane = 0; lane < LANES; lane++) {
    for (let column = 0; 32 * column < EXTENDED_INSTANCES; column++) {
      for (let i = 0; i < 32; i++) block[i] = rows[(32 * lane + i) * ROW_WORDS + column]!;
      transposeBlock(block);
      const here = Math.min(32, EXTENDED_INSTANCES - 32 * column);
      for (let j = 0; j < here; j++) vectors[(32 * column + j) * LANES + lane] = block[j]!;
    }
  }
  block.fill(0);
  return vectors;
}

/** Hacker's Delight, figure 7-6: swap ever smaller off-diagonal blocks. */
function transposeBlock(block: Int32Array): void {
  let mask = 0x0000ffff;
  for (let size = 16; size !== 0; size >>= 1, mask ^= mask << size) {
    for (let k = 0; k < 32; k = (k + size + 1) & ~size) {
      const swap = ((block[k]! >>> size) ^ block[k + size]!) & mask;
      block[k + size]! ^= swap;
      block[k]! ^= swap << size;
    }
  }
}
