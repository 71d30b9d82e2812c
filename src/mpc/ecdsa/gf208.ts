import { CHECK_BITS, OT_INSTANCES } from '#mpc/ecdsa/parameters.ts';

/**
 * The consistency check of KOS15 figure 10 in GF(2^208) = GF(2)[X] / (X^208 + X^9 + X^3 + X + 1)
 * (Hankerson, Menezes, Vanstone, table A.1; its irreducibility is tested).
 *
 * The figure multiplies field elements that are ROWS of a 128 x 624 bit matrix by public challenges chi. Here the matrix
 * lies transposed, one OT instance after the other, so one 'coefficient' of the polynomial is a whole vector of bits (all
 * 128 base OTs at once), and a product by chi is one shifted XOR of the matrix per bit set in chi. So the control flow and
 * every address depend on the public chi alone, never on secret bits; and it is faster than windowed products row by row.
 */
export const MODULUS_TAIL = [0, 1, 3, 9] as const;

/** 208 bits, least significant first, packed in bytes. */
export const ELEMENT_BYTES = CHECK_BITS / 8;

export interface Challenges {
  readonly first: Uint8Array;
  readonly second: Uint8Array;
}

/**
 * chi_1 * M[0..208) + chi_2 * M[208..416) + M[416..624), where M has `lanes` words per instance. Gives 208 vectors of
 * `lanes` words. The sum is GF(2)-linear in M: that is what both sides of the check use.
 */
export function combine(matrix: Int32Array, lanes: number, challenges: Challenges): Int32Array {
  const block = CHECK_BITS * lanes;
  const product = new Int32Array(2 * block);
  addMultiple(product, matrix.subarray(0, block), challenges.first);
  addMultiple(product, matrix.subarray(block, 2 * block), challenges.second);
  reduce(product, lanes);
  const sum = product.subarray(0, block);
  const mask = OT_INSTANCES * lanes;
  for (let i = 0; i < block; i++) sum[i]! ^= matrix[mask + i]!;
  return sum;
}

/** product += block * chi, unreduced. Coefficient d is the sum of block[d - s] over the bits s that are set in the public chi. */
function addMultiple(product: Int32Array, block: Int32Array, chi: Uint8Array): void {
  const lanes = block.length / CHECK_BITS;
  const shifts = new Int32Array(CHECK_BITS);
  let count = 0;
  for (let bit = 0; bit < CHECK_BITS; bit++) {
    if (((chi[bit >> 3]! >> (bit & 7)) & 1) === 1) shifts[count++] = bit * lanes;
  }
  let first = 0;
  let end = 0;
  for (let at = 0; at < product.length; at++) {
    while (end < count && shifts[end]! <= at) end++;
    while (first < end && at - shifts[first]! >= block.length) first++;
    let sum = product[at]!;
    for (let k = first; k < end; k++) sum ^= block[at - shifts[k]!]!;
    product[at] = sum;
  }
}

/** X^208 = X^9 + X^3 + X + 1, from the highest coefficient down. */
function reduce(product: Int32Array, lanes: number): void {
  for (let degree = 2 * CHECK_BITS - 1; degree >= CHECK_BITS; degree--) {
    for (const tail of MODULUS_TAIL) {
      const from = degree * lanes;
      const to = (degree - CHECK_BITS + tail) * lanes;
      for (let lane = 0; lane < lanes; lane++) product[to + lane]! ^= product[from + lane]!;
    }
  }
}
