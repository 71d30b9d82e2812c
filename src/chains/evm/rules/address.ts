import type { Address } from 'viem';
import { getAddress, keccak256 } from 'viem/utils';
import { parseCompressed } from '#curve/secp256k1.ts';
import type { AddressFault } from '#chains/chain-rules.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

const PUBLIC_KEY_BYTES = 33;
const SHAPE = /^0x[0-9a-fA-F]{40}$/;
const ZERO = /^0x0{40}$/;

/**
 * Returns an address in its EIP-55 spelling. Lower case is accepted; any capital letter must be
 * where EIP-55 puts it, so that one mistyped or swapped character is detected. All capitals, `0X`
 * and ICAP are refused.
 *
 * Refuses, in order: `malformed`, `zero-address` (funds sent there are lost, and an unset variable
 * looks like it), `bad-checksum`.
 */
export function parseAddress(text: string): Result<Address, AddressFault> {
  if (!SHAPE.test(text)) return refused('malformed');
  if (ZERO.test(text)) return refused('zero-address');
  const lower = text.toLowerCase();
  const canonical = getAddress(lower);
  return text === lower || text === canonical ? accepted(canonical) : refused('bad-checksum');
}

/**
 * Returns the address only when the text is exactly its canonical spelling, which a stored intent
 * requires; null otherwise.
 */
export function canonicalAddress(text: string): Address | null {
  const parsed = parseAddress(text);
  return parsed.ok && parsed.value === text ? parsed.value : null;
}

/**
 * Returns the address of a public key. Throws for bytes that are no point of secp256k1.
 *
 * @param publicKey 33 bytes
 */
export function addressOfPublicKey(publicKey: Uint8Array): Address {
  const point = publicKey.length === PUBLIC_KEY_BYTES ? parseCompressed(publicKey) : null;
  if (point === null) throw new Error('a public key is not a point of secp256k1');
  return addressOfPoint(point);
}

/** @param point x and y of a public key, 32 bytes each */
export function addressOfPoint(point: Uint8Array): Address {
  return getAddress(`0x${keccak256(point).slice(-40)}`);
}
