/** Public scalars of secp256k1. Secret ones are bytes (mpc/secret-scalar.ts). */

export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
export const SCALAR_BYTES = 32;

/** Reduces into 0..n-1, also for negative values. */
export function modOrder(value: bigint): bigint {
  const rest = value % ORDER;
  return rest < 0n ? rest + ORDER : rest;
}

/** Parses 32 bytes, big-endian, below n; else returns null. */
export function parseScalar(bytes: Uint8Array): bigint | null {
  if (bytes.length !== SCALAR_BYTES) return null;
  const value = bigEndian(bytes);
  return value < ORDER ? value : null;
}

/** Returns 32 bytes, big-endian. Throws for a value that is not from 0 to n-1. */
export function encodeScalar(value: bigint): Uint8Array {
  if (value < 0n || value >= ORDER) throw new Error('a scalar is outside 0..n-1');
  const bytes = new Uint8Array(SCALAR_BYTES);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 4; i++) view.setBigUint64(8 * i, value >> BigInt(64 * (3 - i)));
  return bytes;
}

/** Returns the number of 32 bytes. */
export function bigEndian(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const high = (view.getBigUint64(0) << 64n) | view.getBigUint64(8);
  return (high << 128n) | (view.getBigUint64(16) << 64n) | view.getBigUint64(24);
}
