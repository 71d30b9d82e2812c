import { OT_INSTANCES } from '#mpc/ecdsa/parameters.ts';
import { WORDS, wordsOf } from '#mpc/ecdsa/scalar-words.ts';
import { scalarFromDigest } from '#mpc/secp256k1.ts';
import { taggedHash, uint32 } from '#mpc/transcript.ts';

let vector: readonly bigint[] | null = null;

/**
 * Returns the public gadget vector g of Protocol 5.2, uniform in Z_q^416. It carries no secret, so
 * it is one constant for all pairs. It comes from the random oracle, so no party can have chosen it
 * (a nonce of one party, as elsewhere, lets that party try many). It is computed once per isolate
 * and lazily, because the start-up time of a Worker is bounded.
 */
export function gadget(): readonly bigint[] {
  vector ??= Array.from({ length: OT_INSTANCES }, (_, j) =>
    scalarFromDigest(taggedHash('ecdsa/vole/gadget', uint32(j))),
  );
  return vector;
}

let words: Uint32Array | null = null;

/** Returns the same vector in words, for the masked sum <g, beta>. */
export function gadgetWords(): Uint32Array {
  if (words === null) {
    words = new Uint32Array(OT_INSTANCES * WORDS);
    for (let j = 0; j < OT_INSTANCES; j++) words.set(wordsOf(gadget()[j]!), j * WORDS);
  }
  return words;
}
