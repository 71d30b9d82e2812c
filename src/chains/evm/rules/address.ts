import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { Address } from 'viem';
import { getAddress, keccak256 } from 'viem/utils';
import type { AddressFault } from '#chains/chain-adapter.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

const SHAPE = /^0x[0-9a-fA-F]{40}$/;
const ZERO = /^0x0{40}$/;

/**
 * Gives an address in its EIP-55 spelling. Lower case is taken as it is; any capital letter must be where EIP-55 puts it, so
 * that one mistyped or swapped character is found. All capitals, `0X` and ICAP are refused.
 *
 * Refuses, in order: `malformed`, `zero-address` (what goes there is lost, and it is what an unset variable looks like),
 * `bad-checksum`.
 */
export function parseAddress(text: string): Result<Address, AddressFault> {
  if (!SHAPE.test(text)) return refused('malformed');
  if (ZERO.test(text)) return refused('zero-address');
  const lower = text.toLowerCase();
  const canonical = getAddress(lower);
  return text === lower || text === canonical ? accepted(canonical) : refused('bad-checksum');
}

/** Null unless the text is an address in exactly its canonical spelling: what a stored intent must hold. */
export function canonicalAddress(text: string): Address | null {
  const parsed = parseAddress(text);
  return parsed.ok && parsed.value === text ? parsed.value : null;
}

/** @param publicKey 33 or 65 bytes. Throws for bytes that are no point of secp256k1. */
export function addressOfPublicKey(publicKey: Uint8Array): Address {
  const uncompressed = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  // The first byte, 0x04, names the encoding and is not hashed.
  return getAddress(`0x${keccak256(uncompressed.subarray(1)).slice(-40)}`);
}
