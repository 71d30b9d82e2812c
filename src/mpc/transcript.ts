import { createHash } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { joinedBytes } from '#domain/joined-bytes.ts';

export const TRANSCRIPT_DOMAIN = 'conclave/mpc/v1/';

/** Bytes of every digest here. */
export const DIGEST_BYTES = 32;

/**
 * The random oracle of all protocols, one per tag: SHA-256(T || T || length, part, length, part,
 * ...), T = SHA-256(tag).
 *
 * The doubled tag digest fills one block, as in BIP-340, so that no two tags share an input. Each
 * part carries its length (4 bytes, big-endian): an ambiguous concatenation is how several
 * threshold ECDSA libraries were broken (TSSHOCK).
 */
export function taggedHash(tag: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const isLong = parts.some((part) => part.length >= LONG_PART_BYTES);
  const hash = isLong ? createHash('sha256').update(blockOf(tag).bytes) : blockOf(tag).hashed.clone();
  for (const part of parts) hash.update(uint32(part.length)).update(part);
  return Uint8Array.from(hash.digest());
}

/**
 * Returns `taggedHash` of one long part. The runtime makes a hash of `createHash` from a stream,
 * which costs more than the hash of an envelope.
 */
export async function longTaggedHash(tag: string, part: Uint8Array): Promise<Uint8Array> {
  const input = joinedBytes([blockOf(tag).bytes, uint32(part.length), part]);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', input));
}

/**
 * From this length on the SHA-256 of the runtime is faster than noble's, call and copy included;
 * below it is slower.
 */
const LONG_PART_BYTES = 1024;

interface TagBlock {
  readonly bytes: Uint8Array;
  /** noble's state after the block. */
  readonly hashed: ReturnType<typeof sha256.create>;
}

/** Tags are constants of this source, not data: there are some dozens. */
const TAG_BLOCKS = new Map<string, TagBlock>();

function blockOf(tag: string): TagBlock {
  const known = TAG_BLOCKS.get(tag);
  if (known !== undefined) return known;
  const digest = sha256(utf8ToBytes(TRANSCRIPT_DOMAIN + tag));
  const bytes = concatBytes(digest, digest);
  const block = { bytes, hashed: sha256.create().update(bytes) };
  TAG_BLOCKS.set(tag, block);
  return block;
}

/**
 * Returns the 64-byte first block of an indexed oracle (one-block-sha256.ts): bound to the tag and
 * to the session.
 */
export function oraclePrefix(tag: string, sid: Uint8Array): Uint8Array {
  const digest = taggedHash(tag, sid);
  return concatBytes(digest, digest);
}

export function uint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

/** Compares without an early exit. Lengths are public. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left[i]! ^ right[i]!;
  return difference === 0;
}

/**
 * Returns bytes cut into this many parts of the same length, or no parts when the length is not
 * divisible. The parts are views: a message of a round has 54 kB.
 */
export function equalParts(bytes: Uint8Array, count: number): readonly Uint8Array[] {
  const length = bytes.length / count;
  if (!Number.isInteger(length)) return [];
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * length, (i + 1) * length));
}
