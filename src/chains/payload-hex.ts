import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

/** Returns unsigned bytes in the form in which they are stored and sent: lower-case hex with 0x. */
export function payloadHex(bytes: Uint8Array): string {
  return `0x${bytesToHex(bytes)}`;
}

/**
 * Returns null for a malformed payload. It may come from a lying coordinator, whatever its type
 * claims.
 */
export function bytesOfPayload(payload: string): Uint8Array | null {
  return typeof payload === 'string' && /^0x([0-9a-f]{2})+$/.test(payload) ? hexToBytes(payload.slice(2)) : null;
}
