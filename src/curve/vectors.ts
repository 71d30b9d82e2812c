import { type Functions, over } from '#curve/secp256k1.ts';

/**
 * The work on all instances of a vector OLE at once (vole.ts), in the module of the curve. A Worker
 * that signs seldom has not optimized its JavaScript yet. Scalars have eight words, the least
 * significant first, and are below the order where a function does not say otherwise. All functions
 * run in constant time.
 *
 * The memory of the vectors is wiped after each function, except for the gadget, which is public.
 */

const INSTANCES = 416;
const WIDTH = 4;
const CHECKS = 2;
const WORDS = 8;
/** 624 vectors of the OT extension, of 4 words each. */
const TRANSPOSED_WORDS = 624 * 4;

/** The layout in words, as in secp256k1.c. */
const THETA = INSTANCES * WORDS;
const VALUES = THETA + 2 * CHECKS * WORDS;
const SUMS = VALUES + INSTANCES * WIDTH * WORDS;
const CHECKED = SUMS + 2 * WORDS;
const OTHERS = CHECKED + INSTANCES * CHECKS * WORDS;
const ADDENDS = OTHERS + INSTANCES * WIDTH * WORDS;
const BITS = ADDENDS + WIDTH * WORDS;
const END = BITS + 16;

/** Inputs by their positions. Bytes are bits. */
type Inputs = readonly (readonly [position: number, input: Uint32Array | Int32Array | Uint8Array])[];

interface Vectors {
  readonly words: Uint32Array;
  readonly functions: Functions;
}

function overVectors<T>(inputs: Inputs, run: (own: Vectors) => T): T {
  return over({}, ({ functions, memory }) => {
    const address = functions.vectors();
    const words = new Uint32Array(memory.buffer, address, END);
    try {
      for (const [position, input] of inputs) {
        if (input instanceof Uint8Array) memory.set(input.subarray(0, INSTANCES / 8), address + 4 * position);
        else words.set(input, position);
      }
      return run({ functions, words });
    } finally {
      words.fill(0, THETA);
    }
  });
}

/**
 * Returns the sums of a vector OLE and its check values: sum_j g_j v_j,i for both inputs i, and
 * v_j,2+k + sum_i theta_i,k v_j,i for both checks k.
 *
 * @param gadget g
 * @param theta theta_0,0, theta_0,1, theta_1,0, theta_1,1
 * @param values v: four scalars for each of 416 instances
 */
export function fold(
  gadget: Uint32Array,
  theta: Uint32Array,
  values: Uint32Array,
): { readonly sums: Uint32Array; readonly checks: Uint32Array } {
  const inputs = [
    [0, gadget],
    [THETA, theta],
    [VALUES, values],
  ] as const;
  return overVectors(inputs, ({ functions, words }) => {
    functions.fold();
    return { sums: words.slice(SUMS, CHECKED), checks: words.slice(CHECKED, OTHERS) };
  });
}

/** Reports whether four numbers for each instance are scalars. */
export function areScalars(numbers: Uint32Array): boolean {
  return overVectors([[OTHERS, numbers]], ({ functions }) => functions.areScalars() === 1);
}

/** Returns four numbers of 256 bits for each instance, reduced by the order. */
export function reduced(numbers: Uint32Array): Uint32Array {
  return overVectors([[VALUES, numbers]], ({ functions, words }) => {
    functions.reduce();
    return words.slice(VALUES, SUMS);
  });
}

/** Returns sum_j bit_j g_j. */
export function selected(gadget: Uint32Array, bits: Uint8Array): Uint32Array {
  const inputs = [
    [0, gadget],
    [BITS, bits],
  ] as const;
  return overVectors(inputs, ({ functions, words }) => {
    functions.select();
    return words.slice(SUMS, SUMS + WORDS);
  });
}

/** Returns a_j,i - b_j,i + c_i. */
export function offset(a: Uint32Array, b: Uint32Array, c: readonly Uint32Array[]): Uint32Array {
  const addends = c.map((words, i) => [ADDENDS + i * WORDS, words] as const);
  return overVectors([[VALUES, a], [OTHERS, b], ...addends], ({ functions, words }) => {
    functions.offset();
    return words.slice(OTHERS, ADDENDS);
  });
}

/** Returns a_j,i + bit_j b_j,i. */
export function chosen(a: Uint32Array, b: Uint32Array, bits: Uint8Array): Uint32Array {
  const inputs = [
    [VALUES, a],
    [OTHERS, b],
    [BITS, bits],
  ] as const;
  return overVectors(inputs, ({ functions, words }) => {
    functions.choose();
    return words.slice(VALUES, SUMS);
  });
}

/** Returns checks_j,k - bit_j c_k. */
export function corrected(checks: Uint32Array, c: readonly Uint32Array[], bits: Uint8Array): Uint32Array {
  const subtrahends = c.map((words, k) => [ADDENDS + k * WORDS, words] as const);
  return overVectors([[CHECKED, checks], [BITS, bits], ...subtrahends], ({ functions, words }) => {
    functions.correct();
    return words.slice(CHECKED, OTHERS);
  });
}

/** Returns 128 rows of 32 words as 624 vectors of 4 words: bit i of vector j is bit j of row i. */
export function transposed(rows: Int32Array): Int32Array {
  return overVectors([[VALUES, rows]], ({ functions, words }) => {
    functions.transpose();
    return new Int32Array(words.slice(OTHERS, OTHERS + TRANSPOSED_WORDS).buffer);
  });
}
