import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/** The public keys of a co-signer, hex of 32 bytes each. The other co-signers pin them. */
export interface PublicIdentity {
  readonly signing: string;
  readonly exchange: string;
}

/**
 * Returns the public keys of an identity secret (hex of 32 bytes). An operator gives them to the
 * other operators.
 */
export function publicIdentity(identitySecret: string): PublicIdentity {
  const { signing, exchange } = identitySecrets(identitySecret);
  return {
    signing: bytesToHex(ed25519.getPublicKey(signing)),
    exchange: bytesToHex(x25519.getPublicKey(exchange)),
  };
}

/**
 * Returns two keys from one secret, so that an operator keeps only one. HKDF-SHA-256 separates them
 * by name.
 */
export function identitySecrets(identitySecret: string): {
  readonly signing: Uint8Array;
  readonly exchange: Uint8Array;
} {
  const secret = hexToBytes(identitySecret);
  if (secret.length !== 32) throw new Error('IDENTITY_SECRET or COORDINATOR_SECRET is not 32 bytes in hex');
  const derive = (use: string) => hkdf(sha256, secret, undefined, utf8ToBytes(`conclave/node-identity/v1/${use}`), 32);
  return { signing: derive('signing'), exchange: derive('exchange') };
}
