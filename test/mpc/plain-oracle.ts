import { secp256k1_hasher } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * The oracles of the protocols, written again from their definition and without code of src/mpc.
 * Tests compare the results of src/mpc with them.
 */

/** Returns SHA-256(T || T || length, part, ...) with T = SHA-256("conclave/mpc/v1/" || tag). */
export function plainOracle(tag: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const block = sha256(utf8ToBytes(`conclave/mpc/v1/${tag}`));
  const framed = parts.flatMap((part) => {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, part.length);
    return [length, part];
  });
  return sha256(concatBytes(block, block, ...framed));
}

/** Returns the point that a message hashes to (RFC 9380, secp256k1_XMD:SHA-256_SSWU_RO_). */
export function plainPoint(message: Uint8Array) {
  const DST = utf8ToBytes('conclave/mpc/v1/secp256k1_XMD:SHA-256_SSWU_RO_');
  return secp256k1_hasher.hashToCurve(message, { DST });
}
