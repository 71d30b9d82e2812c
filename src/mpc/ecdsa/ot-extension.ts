import { type Challenges, combine } from '#mpc/ecdsa/gf208.ts';
import { bitAt, ROW_WORDS } from '#mpc/ecdsa/bit-matrix.ts';
import { wireBytes } from '#mpc/ecdsa/byte-reader.ts';
import {
  BASE_OTS,
  CHECK_BITS,
  ELEMENT_BYTES,
  EXTENDED_INSTANCES,
  LANES,
  OT_INSTANCES,
  WIDTH,
} from '#mpc/ecdsa/parameters.ts';
import { WORDS } from '#mpc/ecdsa/scalar-words.ts';
import { hashFourfold, midstate } from '#mpc/wasm/one-block-sha256.ts';
import { freshBytes } from '#mpc/secp256k1.ts';
import { reduced, transposed } from '#curve/vectors.ts';
import { oraclePrefix, taggedHash } from '#mpc/transcript.ts';

/**
 * OT extension: SoftSpokenOT (Roy, eprint 2022/192) with k = 1, which is KOS15 (eprint 2015/546)
 * figure 10 as corrected, made non-interactive by Fiat-Shamir as DKLs23 section 5 requires.
 *
 * The extension RECEIVER (Bob of the vector OLE) was the sender of the base OTs and knows both
 * seeds of each; the extension SENDER (Alice) knows the seed of its choice bit Delta_i. Delta is
 * long-lived: a cheating receiver learns one bit of it per check that fails or passes, so a failed
 * check MUST end in a ban of the pair.
 */
export interface ReceiverSeeds {
  /** 128 pairs of seeds, 8 words each. */
  readonly zeros: Int32Array;
  readonly ones: Int32Array;
}

export interface SenderSeeds {
  /** Delta, 128 bits in 4 words. */
  readonly delta: Int32Array;
  /** 128 seeds, 8 words each. */
  readonly chosen: Int32Array;
}

/** The receiver's message. It has one bit vector of 4 words per OT instance. */
export interface ExtensionMessage {
  readonly u: Int32Array;
  readonly x: Uint8Array;
  readonly t: Int32Array;
}

export interface ReceiverExtension {
  readonly message: ExtensionMessage;
  /** 624 choice bits; the first 416 are beta. */
  readonly choices: Uint8Array;
  /** t_j: one vector per instance. */
  readonly vectors: Int32Array;
  /** A digest of the whole message of the receiver. */
  readonly transcript: Uint8Array;
}

export interface SenderExtension {
  /** q_j: one vector per instance. */
  readonly vectors: Int32Array;
  readonly transcript: Uint8Array;
}

/**
 * Returns the receiver's only message: KOS15 figure 10, its part of 'Extend' and of the consistency
 * check ('Check' here).
 */
export function extendAsReceiver(sid: Uint8Array, seeds: ReceiverSeeds): ReceiverExtension {
  // Extend, step 1: sample the choice bits x in {0,1}^(416 + 208); the last 208 are a mask. DKLs23
  // Protocol 5.2: the first 416 are Bob's beta.
  const choices = freshBytes(EXTENDED_INSTANCES / 8);
  // Extend, step 2: expand both seeds of each base OT, to t0 and t1.
  const vectors = expand(sid, seeds.zeros);
  const u = expand(sid, seeds.ones);
  // Extend, step 3: u = t0 + t1 + x.
  const choiceBits = new Int32Array(EXTENDED_INSTANCES);
  for (let j = 0; j < EXTENDED_INSTANCES; j++) {
    const bit = bitAt(choices, j);
    choiceBits[j] = bit;
    for (let lane = j * LANES; lane < (j + 1) * LANES; lane++) u[lane]! ^= vectors[lane]! ^ -bit;
  }
  // Check, step 1: the challenges chi = H(sid, u). The figure lets the sender draw them.
  const bound = taggedHash('ecdsa/ot-extension/u', sid, wireBytes(u));
  const challenges = challengesOf(bound);
  // Check, step 2: x' = sum chi_i x_i + x_mask, t' = sum chi_i t_i + t_mask.
  const x = packBits(combine(choiceBits, 1, challenges));
  const t = combine(vectors, LANES, challenges);
  choiceBits.fill(0);
  return { message: { u, x, t }, choices, vectors, transcript: transcriptOf(bound, x, t) };
}

/**
 * Returns the sender's side: the vectors q_j = t_j + x_j Delta; or null when the check fails. NULL
 * MEANS BAN. KOS15 figure 10, the sender's part of 'Extend' and of the consistency check.
 */
export function extendAsSender(sid: Uint8Array, seeds: SenderSeeds, message: ExtensionMessage): SenderExtension | null {
  const { delta } = seeds;
  // Extend, step 2: expand the one seed that it knows of each base OT, to t_(Delta_i).
  const q = expand(sid, seeds.chosen);
  // Extend, step 4: q_i = t_(Delta_i) + Delta_i u_i.
  for (let j = 0; j < q.length; j++) q[j]! ^= delta[j % LANES]! & message.u[j]!;
  // Check, step 1: the same challenges from the same u.
  const bound = taggedHash('ecdsa/ot-extension/u', sid, wireBytes(message.u));
  const sum = combine(q, LANES, challengesOf(bound));
  // Check, step 3: q' must be t' + x' Delta. All 208 x 128 bits are compared before the answer, so
  // its time does not show where a difference is.
  let difference = 0;
  for (let bit = 0; bit < CHECK_BITS; bit++) {
    const mask = -bitAt(message.x, bit);
    for (let lane = 0; lane < LANES; lane++) {
      difference |= sum[bit * LANES + lane]! ^ message.t[bit * LANES + lane]! ^ (delta[lane]! & mask);
    }
  }
  return difference === 0 ? { vectors: q, transcript: transcriptOf(bound, message.x, message.t) } : null;
}

/**
 * Returns the vectors of the other choice, q_j + Delta, which the sender hashes in step 3 of
 * 'Transpose and randomise' (KOS15 figure 10).
 */
export function otherChoice(q: Int32Array, delta: Int32Array): Int32Array {
  const other = new Int32Array(OT_INSTANCES * LANES);
  for (let j = 0; j < other.length; j++) other[j] = q[j]! ^ delta[j % LANES]!;
  return other;
}

/**
 * KOS15 figure 10, 'Transpose and randomise', step 2 for the receiver and step 3 for the sender:
 * the pads H(sid, j, k, q_j) as scalars, 4 per instance, for the first 416 instances.
 *
 * 'Forced reuse' of DKLs23 section 5.1: one batch of choice bits serves all inputs, each with its
 * own oracle k. The receiver's pad equals the sender's pad of its choice, because t_j = q_j +
 * beta_j Delta.
 */
export function padsOf(sid: Uint8Array, vectors: Int32Array): Uint32Array {
  const oracle = midstate(oraclePrefix('ecdsa/ot-extension/pad', sid));
  const used = vectors.subarray(0, OT_INSTANCES * LANES);
  const hashes = new Uint32Array(hashFourfold(oracle, used, LANES).buffer);
  if (hashes.length !== OT_INSTANCES * WIDTH * WORDS) throw new Error('fewer or more pads than inputs and checks');
  // n is within 2^128.4 of 2^256: the bias is below 2^-127.
  const pads = reduced(hashes);
  hashes.fill(0);
  return pads;
}

/**
 * KOS15 figure 10, Extend, step 2: the PRG, four digests per seed, of which 624 bits are used,
 * bound to the session. Then 'Transpose and randomise', step 1: one vector per instance. The figure
 * transposes after the check; here the check is on the transposed matrix (gf208.ts).
 */
function expand(sid: Uint8Array, seeds: Int32Array): Int32Array {
  const rows = hashFourfold(midstate(oraclePrefix('ecdsa/ot-extension/prg', sid)), seeds, WORDS);
  if (rows.length !== BASE_OTS * ROW_WORDS) throw new Error('fewer or more rows than base OTs');
  const vectors = transposed(rows);
  rows.fill(0);
  return vectors;
}

/**
 * KOS15 figure 10, Check, step 1, by Fiat-Shamir: chi_1 and chi_2 = H(sid, u), 208 bits each, from
 * the digest that binds both.
 */
function challengesOf(bound: Uint8Array): Challenges {
  const first = taggedHash('ecdsa/ot-extension/chi-1', bound).subarray(0, ELEMENT_BYTES);
  const second = taggedHash('ecdsa/ot-extension/chi-2', bound).subarray(0, ELEMENT_BYTES);
  return { first, second };
}

/** Ours: the digest of the whole message, which the vector OLE binds in its challenges. */
function transcriptOf(bound: Uint8Array, x: Uint8Array, t: Int32Array): Uint8Array {
  return taggedHash('ecdsa/ot-extension/transcript', bound, x, wireBytes(t));
}

function packBits(bits: Int32Array): Uint8Array {
  const packed = new Uint8Array(ELEMENT_BYTES);
  for (let i = 0; i < CHECK_BITS; i++) packed[i >> 3]! |= (bits[i]! & 1) << (i & 7);
  return packed;
}
