/** Words of one PRG row: four digests. 624 bits are used; the last 12.5 words are not. */
export const ROW_WORDS = 32;

/** Returns bit i of a packed bit string, least significant first in each byte. */
export function bitAt(bits: Uint8Array, index: number): number {
  return (bits[index >> 3]! >> (index & 7)) & 1;
}
