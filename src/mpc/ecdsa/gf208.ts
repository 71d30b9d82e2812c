import code from '#mpc/wasm/gf208.wasm';
import { engineOf } from '#curve/engine.ts';
import { CHECK_BITS, EXTENDED_INSTANCES, LANES, OT_INSTANCES } from '#mpc/ecdsa/parameters.ts';

/**
 * The consistency check of KOS15 figure 10 in GF(2^208) = GF(2)[X] / (X^208 + X^9 + X^3 + X + 1)
 * (Hankerson, Menezes, Vanstone, table A.1; its irreducibility is tested).
 *
 * The figure multiplies field elements that are ROWS of a 128 x 624 bit matrix by public challenges
 * chi. Here the matrix is transposed, one OT instance after the other, so one 'coefficient' of the
 * polynomial is a whole vector of bits (all 128 base OTs at once), and a product by chi is one
 * shifted XOR of the matrix per bit set in chi. So the control flow and every address depend on the
 * public chi alone, never on secret bits; and it is faster than windowed products row by row. A
 * vector is as long as one of WebAssembly, where the shifted XOR takes a quarter of the time
 * (gf208.wat).
 */
export const MODULUS_TAIL = [0, 1, 3, 9] as const;

export interface Challenges {
  /** 208 bits each, least significant first, packed in bytes. */
  readonly first: Uint8Array;
  readonly second: Uint8Array;
}

/** The layout of the memory of the code, in words; gf208.wat has the same in bytes. */
const AT = { product: 0, factor: 2048, end: 2048 + CHECK_BITS * LANES } as const;

interface Functions {
  /** @param shift public, 0 to 207 */
  readonly addShifted: (shift: number) => void;
}

const engine = engineOf<Functions>(code);

/**
 * Returns chi_1 * M[0..208) + chi_2 * M[208..416) + M[416..624), where M has `lanes` words per
 * instance, at most 4, as 208 vectors of `lanes` words. The sum is GF(2)-linear in M: both sides of
 * the check use this. The copy in the memory is wiped afterwards. Throws for a matrix of another
 * size.
 */
export function combine(matrix: Int32Array, lanes: number, challenges: Challenges): Int32Array {
  if (lanes > LANES || matrix.length !== EXTENDED_INSTANCES * lanes) throw new Error('a matrix of another size');
  const { memory } = engine();
  const block = CHECK_BITS * lanes;
  // It is wiped before, too: when the platform ends a call that takes too long, no later code runs,
  // and an honest peer would look like a cheater.
  memory.fill(0, AT.product, AT.end);
  try {
    addMultiple(matrix.subarray(0, block), lanes, challenges.first);
    addMultiple(matrix.subarray(block, 2 * block), lanes, challenges.second);
    reduce(memory);
    const sum = matrix.slice(OT_INSTANCES * lanes, OT_INSTANCES * lanes + block);
    for (let i = 0; i < CHECK_BITS; i++) {
      for (let lane = 0; lane < lanes; lane++) sum[i * lanes + lane]! ^= memory[AT.product + i * LANES + lane]!;
    }
    return sum;
  } finally {
    memory.fill(0, AT.product, AT.end);
  }
}

/** product += block * chi, unreduced: a shifted sum for each bit that is set in the public chi. */
function addMultiple(block: Int32Array, lanes: number, chi: Uint8Array): void {
  const { memory, addShifted } = engine();
  for (let i = 0; i < CHECK_BITS; i++) {
    for (let lane = 0; lane < lanes; lane++) memory[AT.factor + i * LANES + lane] = block[i * lanes + lane]!;
  }
  for (let bit = 0; bit < CHECK_BITS; bit++) {
    if (((chi[bit >> 3]! >> (bit & 7)) & 1) === 1) addShifted(bit);
  }
}

/** X^208 = X^9 + X^3 + X + 1, from the highest coefficient down. */
function reduce(product: Int32Array): void {
  for (let degree = 2 * CHECK_BITS - 1; degree >= CHECK_BITS; degree--) {
    for (const tail of MODULUS_TAIL) {
      const from = degree * LANES;
      const to = (degree - CHECK_BITS + tail) * LANES;
      for (let lane = 0; lane < LANES; lane++) product[to + lane]! ^= product[from + lane]!;
    }
  }
}
