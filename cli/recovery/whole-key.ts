import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToNumberLE, concatBytes } from '@noble/curves/utils.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { randomBytes } from '@noble/hashes/utils.js';
import type { ChainSignature } from '#chains/chain-rules.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { ED25519 } from '#mpc/ed25519.ts';
import { SECP256K1 } from '#mpc/secp256k1.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';

/**
 * The only code that signs with a whole key. It is for an offline machine, after the service is
 * lost: what it signs needs no approval.
 */

/** The whole key of a wallet. */
export interface WholeKey {
  readonly scheme: KeyScheme;
  readonly secret: SecretScalar;
  /** 33 bytes, or 32 for Ed25519. */
  readonly publicKey: Uint8Array;
}

/** Octets of fresh randomness in each nonce. */
const FRESH_BYTES = 32;

/**
 * Signs one message of inspected bytes: a digest of 32 bytes for ECDSA and BIP-340, and the bytes
 * themselves for Ed25519. `ChainRules.assemble` verifies the signature against the wallet.
 */
export function signedWith({ scheme, secret, publicKey }: WholeKey, message: Uint8Array): ChainSignature {
  switch (scheme) {
    case 'ecdsa-secp256k1':
      return ecdsaSignature(secret, message);
    case 'frost-secp256k1-tr':
      return bip340Signature(secret, message);
    case 'frost-ed25519':
      return ed25519Signature(secret, publicKey, message);
  }
}

/**
 * The nonce is that of RFC 6979 with additional randomness (section 3.6), and s is low (BIP-146,
 * EIP-2).
 */
function ecdsaSignature(secret: SecretScalar, digest: Uint8Array): ChainSignature {
  const key = SECP256K1.secrets.reveal(secret);
  try {
    const options = {
      prehash: false,
      lowS: true,
      extraEntropy: randomBytes(FRESH_BYTES),
      format: 'recovered',
    } as const;
    // The recovery id, r and s.
    const [recovery, ...scalars] = secp256k1.sign(digest, key, options);
    // An r that was reduced has a probability of 2^-127, and no chain accepts its recovery id.
    if (recovery !== 0 && recovery !== 1) throw new Error('The signature has an r that was reduced.');
    const bytes = Uint8Array.from(scalars);
    return { r: bytes.slice(0, 32), s: bytes.slice(32), yParity: recovery };
  } finally {
    key.fill(0);
  }
}

/** BIP-340, "Default Signing", with the key of the output (BIP-341). */
function bip340Signature(secret: SecretScalar, digest: Uint8Array): ChainSignature {
  const key = SECP256K1.secrets.reveal(secret);
  try {
    return { bytes: schnorr.sign(digest, key, randomBytes(FRESH_BYTES)) };
  } finally {
    key.fill(0);
  }
}

/**
 * RFC 8032, section 5.1.6, from step 2 on. Step 1 hashes a seed to the scalar s and a prefix. A key
 * of co-signers has no seed: its secret is s itself.
 */
function ed25519Signature(secret: SecretScalar, publicKey: Uint8Array, message: Uint8Array): ChainSignature {
  const { secrets } = ED25519;
  const scalar = secrets.reveal(secret);
  const hashed = concatBytes(randomBytes(FRESH_BYTES), scalar, message);
  // Step 2: "Compute SHA-512(dom2(F, C) || prefix || PH(M)) ... Interpret the 64-octet digest as a
  // little-endian integer r." Fresh octets and the scalar stand for the prefix, so that neither a
  // weak source of randomness nor a repeated message repeats r. For Ed25519 dom2 is empty, and PH
  // is the identity.
  const digest = sha512(hashed);
  const nonce = secrets.of(bytesToNumberLE(digest));
  scalar.fill(0);
  hashed.fill(0);
  digest.fill(0);
  try {
    // Step 3: "Compute the point [r]B. ... Let the string R be the encoding of this point."
    const point = ED25519.encodePoint(ED25519.multiplyGenerator(nonce));
    // Step 4: "Compute SHA512(dom2(F, C) || R || A || PH(M)), and interpret the 64-octet digest as
    // a little-endian integer k."
    const challenge = bytesToNumberLE(sha512(concatBytes(point, publicKey, message)));
    // Step 5: "Compute S = (r + k * s) mod L."
    const sum = secrets.multiplyAdd(secrets.of(challenge), secret, nonce);
    // Step 6: "the concatenation of R (32 octets) and the little-endian encoding of S (32 octets)".
    return { bytes: concatBytes(point, secrets.reveal(sum)) };
  } finally {
    nonce.wipe();
  }
}
