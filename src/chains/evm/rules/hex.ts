import type { Hex } from 'viem';

/**
 * Reports whether a text is whole bytes in lower-case hex with 0x: the only spelling that Conclave
 * stores and compares.
 */
export function isHexBytes(text: string): text is Hex {
  return text.length % 2 === 0 && /^0x[0-9a-f]*$/.test(text);
}

/** Reads bytes from an RPC node and converts them to lower case. Returns null for anything else. */
export function parseHexBytes(value: unknown): Hex | null {
  if (typeof value !== 'string') return null;
  const lower = value.toLowerCase();
  return isHexBytes(lower) ? lower : null;
}

/** Reads a 32-byte hash. */
export function parseHash(value: unknown): Hex | null {
  const bytes = parseHexBytes(value);
  return bytes !== null && bytes.length === 66 ? bytes : null;
}

/**
 * Reads the 20 bytes of an address. An RPC node can return any length, and other code takes a wrong
 * one for a bug of Conclave.
 */
export function parseAddressBytes(value: unknown): Hex | null {
  const bytes = parseHexBytes(value);
  return bytes !== null && bytes.length === 42 ? bytes : null;
}

/**
 * Reads a JSON-RPC quantity, up to 2^256 - 1. Leading zeros are accepted, because some RPC nodes
 * send them.
 */
export function parseQuantity(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : null;
}

/** Returns a value as one 32-byte word of calldata, without 0x. */
export function word(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}
