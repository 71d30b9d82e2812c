import { createPublicKey, verify } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { getBase58Decoder } from '@solana/kit';
import type { ChainFault, ChainSignature } from '#chains/chain-rules.ts';
import { bytesOf, isPublicKey } from '#chains/solana/rules/address.ts';
import { offchainMessage } from '#chains/solana/rules/message.ts';
import { inspectSolanaPayload } from '#chains/solana/rules/payload.ts';
import type { MessageIntent, OnChainIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

const SIGNATURE_BYTES = 64;

/**
 * Joins the stored message and the co-signers' signature into a transaction. This is the last check
 * between approval and broadcast. Its hash is the signature in base58, as in every explorer.
 *
 * Refuses, in order: a signature of another scheme; bytes that are not the intent; a digest, nonce
 * slot or fee that is not the attempt's; a signature that is not by the intent's wallet over
 * exactly these bytes.
 */
export function assembleTransaction(
  intent: OnChainIntent,
  attempt: Attempt,
  [signature]: readonly ChainSignature[],
): Result<{ readonly raw: string; readonly hash: string }, ChainFault> {
  if (signature === undefined || !('bytes' in signature)) return refused({ detail: 'a signature of another scheme' });
  const inspected = inspectSolanaPayload(intent, attempt.payload);
  if (!inspected.ok) return refused({ detail: `the payload does not fit the intent: ${inspected.refusal}` });
  const {
    signedMessages: [signedMessage],
    signingDigest,
    maxFee,
  } = inspected.value;
  if (`0x${bytesToHex(signingDigest)}` !== attempt.signingDigest) {
    return refused({ detail: 'another digest was to be signed' });
  }
  if (maxFee.toString() !== attempt.maxFee) return refused({ detail: 'the payload has another fee' });
  if (!isBy(intent.from, signedMessage, signature.bytes)) return refused({ detail: 'signed by another wallet' });
  const raw = `0x${bytesToHex(concatBytes(Uint8Array.of(1), signature.bytes, signedMessage))}`;
  return accepted({ raw, hash: signatureText(signature.bytes) });
}

/**
 * Returns the signature of a message as wallets return it, in base58. Refuses one that is not by
 * the intent's wallet.
 */
export function assembleMessage(intent: MessageIntent, signature: ChainSignature): Result<string, ChainFault> {
  if (!('bytes' in signature)) return refused({ detail: 'a signature of another scheme' });
  const message = offchainMessage(intent);
  if (message === null) return refused({ detail: 'the message is not in canonical form' });
  if (!isBy(intent.from, message, signature.bytes)) return refused({ detail: 'signed by another wallet' });
  return accepted(signatureText(signature.bytes));
}

/** A decoded signed transaction with one signer. */
export interface SignedTransaction {
  readonly hash: string;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
}

export function readSigned(raw: string): SignedTransaction | null {
  if (!/^0x([0-9a-f]{2})+$/.test(raw)) return null;
  const bytes = hexToBytes(raw.slice(2));
  const [signatures, ends] = [bytes[0], 1 + SIGNATURE_BYTES];
  if (signatures !== 1 || bytes.length <= ends) return null;
  const signature = bytes.subarray(1, ends);
  return { hash: signatureText(signature), signature, message: bytes.subarray(ends) };
}

/** See `ChainRules.signaturesIn`. */
export function signaturesIn(raw: string): readonly Uint8Array[] {
  const signed = readSigned(raw);
  if (signed === null) throw new Error('not a signed transaction');
  return [signed.signature];
}

/**
 * Verifies by RFC 8032 in its strict reading, like the network's own verification, which also
 * rejects keys of small order. It uses the runtime's own code, which is independent of the code
 * that made the signature and takes an eighth of the time of noble's.
 */
function isBy(wallet: string, message: Uint8Array, signature: Uint8Array): boolean {
  if (!isPublicKey(wallet) || signature.length !== SIGNATURE_BYTES) return false;
  const publicKey = bytesOf(wallet);
  if (!isStrong(publicKey)) return false;
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, message, key, signature);
}

/**
 * Reports whether a key is a point of the curve in the encoding of RFC 8032, and not one of the
 * eight for which any signature is valid.
 */
function isStrong(publicKey: Uint8Array): boolean {
  try {
    return !ed25519.Point.fromBytes(publicKey).isSmallOrder();
  } catch {
    return false;
  }
}

function signatureText(signature: Uint8Array): string {
  return getBase58Decoder().decode(signature);
}
