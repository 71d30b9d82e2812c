import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToNumberBE, equalBytes } from '@noble/curves/utils.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { SigHash } from '@scure/btc-signer';
import { compressed, signerOf, verifiesBip340 } from '#curve/signatures.ts';
import type { ChainSignature, EcdsaSignatureParts } from '#chains/chain-rules.ts';
import type { ScriptType } from '#chains/bitcoin/rules/script-type.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** Returns the HASH160 of an ECDSA key, which its address contains. */
export function keyHashOf(publicKey: Uint8Array): Uint8Array {
  return ripemd160(sha256(publicKey));
}

/**
 * Returns the witness that unlocks a UTXO: the signature (BIP-341, default hash type), or signature
 * and key (BIP-141, hash type ALL). Refuses, with a text, a signature of another scheme, and one
 * that is not by exactly the lock's key over these 32 bytes.
 */
export function witnessOf(
  lock: ScriptType,
  hash: Uint8Array,
  signature: ChainSignature,
): Result<readonly Uint8Array[], string> {
  if (lock.type === 'p2tr') {
    if (!('bytes' in signature)) return refused('a signature of another scheme');
    const isRight = verifiesBip340(signature.bytes, hash, lock.outputKey);
    return isRight ? accepted([signature.bytes]) : refused('signed by another wallet');
  }
  if ('bytes' in signature) return refused('a signature of another scheme');
  const signed = recovered(hash, signature);
  if (signed === null || !equalBytes(keyHashOf(signed.publicKey), lock.keyHash)) {
    return refused('signed by another wallet');
  }
  return accepted([concatBytes(signed.der, Uint8Array.of(SigHash.ALL)), signed.publicKey]);
}

/**
 * Returns the key of a signature, which an address does not contain; null for an invalid signature,
 * or one that is not low-s (BIP-146).
 */
function recovered(hash: Uint8Array, { r, s, yParity }: EcdsaSignatureParts) {
  const signer = signerOf(hash, { r, s, yParity });
  if (signer === null) return null;
  const signature = new secp256k1.Signature(bytesToNumberBE(r), bytesToNumberBE(s));
  return { der: signature.toBytes('der'), publicKey: compressed(signer) };
}

/**
 * Returns the signature in a witness of `witnessOf`, 64 bytes: r and s, or the form of BIP-340.
 * Throws for another witness.
 */
export function signatureIn([signature, publicKey]: readonly Uint8Array[]): Uint8Array {
  if (signature === undefined) throw new Error('an input of a wallet has no witness');
  if (publicKey === undefined) return signature;
  return secp256k1.Signature.fromBytes(signature.subarray(0, -1), 'der').toBytes('compact');
}
