import type { Address, Hex } from 'viem';
import { bytesToBigInt, bytesToHex, concatBytes, hexToBytes, keccak256 } from 'viem/utils';
import { encodeScalar, ORDER } from '#curve/scalar.ts';
import { signerOf } from '#curve/signatures.ts';
import type { ChainFault, ChainSignature } from '#chains/chain-rules.ts';
import { addressOfPoint } from '#chains/evm/rules/address.ts';
import { inspectEvmPayload } from '#chains/evm/rules/payload.ts';
import type { SignedTransaction } from '#chains/evm/rules/transaction.ts';
import { parseSigned, parseUnsigned, serialiseSigned, serialiseUnsigned } from '#chains/evm/rules/transaction.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/**
 * Joins the stored bytes and the co-signers' signature into a transaction, decodes it again, and
 * compares its effect with the intent. This is the last check between approval and broadcast.
 *
 * Refuses, in order: a signature of another scheme; bytes that are not the intent; a digest, nonce
 * or fee that is not the attempt's; a signature that is out of range, not low-s (EIP-2), or not by
 * the intent's wallet; a result that does not decode to the approved bytes.
 */
export function assembleTransaction(
  intent: OnChainIntent,
  attempt: Attempt,
  [signature]: readonly ChainSignature[],
): Result<{ readonly raw: Hex; readonly hash: Hex }, ChainFault> {
  if (signature === undefined || 'bytes' in signature) return refused({ detail: 'a signature of another scheme' });
  const inspected = inspectEvmPayload(intent, attempt.payload);
  if (!inspected.ok) return refused({ detail: `the payload does not fit the intent: ${inspected.refusal}` });
  const { signingDigest, bid, maxFee } = inspected.value;
  if (bytesToHex(signingDigest) !== attempt.signingDigest)
    return refused({ detail: 'another digest was to be signed' });
  if (bid.nonce.toString() !== attempt.nonce) return refused({ detail: 'the payload has another nonce' });
  if (maxFee.toString() !== attempt.maxFee) return refused({ detail: 'the payload has another fee' });
  const unsigned = parseUnsigned(attempt.payload);
  if (!unsigned.ok) return refused({ detail: unsigned.refusal });
  if (signature.r.length !== 32 || signature.s.length !== 32) return refused({ detail: 'a scalar has 32 bytes' });
  const [r, s] = [bytesToBigInt(signature.r), bytesToBigInt(signature.s)];
  const raw = serialiseSigned({ ...unsigned.value, yParity: BigInt(signature.yParity), r, s });
  const readBack = readSigned(raw);
  if (!readBack.ok) return readBack;
  if (readBack.value.from !== intent.from) return refused({ detail: 'signed by another wallet' });
  if (readBack.value.payload !== attempt.payload) return refused({ detail: 'the signed bytes are other bytes' });
  return accepted({ raw, hash: keccak256(raw) });
}

export interface SignedBytes {
  /** The signer, recovered from the signature. */
  readonly from: Address;
  /** The unsigned bytes inside. */
  readonly payload: Hex;
  readonly transaction: SignedTransaction;
}

/**
 * Decodes signed bytes and recovers their signer. Refuses bytes in any encoding but the canonical
 * one, and high-s signatures.
 */
export function readSigned(raw: string): Result<SignedBytes, ChainFault> {
  const parsed = parseSigned(raw);
  if (!parsed.ok) return refused({ detail: `not a signed transaction: ${parsed.refusal}` });
  const transaction = parsed.value;
  const payload = serialiseUnsigned(transaction);
  const from = recover(keccak256(payload), transaction);
  return from === null ? refused({ detail: 'not a valid low-s signature' }) : accepted({ from, payload, transaction });
}

/** See `ChainRules.signaturesIn`. */
export function signaturesIn(raw: string): readonly Uint8Array[] {
  const parsed = parseSigned(raw);
  if (!parsed.ok) throw new Error(`not a signed transaction: ${parsed.refusal}`);
  return [concatBytes([encodeScalar(parsed.value.r), encodeScalar(parsed.value.s)])];
}

/** Returns the signer of a valid low-s signature, or null. */
function recover(digest: Hex, { r, s, yParity }: SignedTransaction): Address | null {
  if ((yParity !== 0n && yParity !== 1n) || r >= ORDER || s >= ORDER) return null;
  const signature = { r: encodeScalar(r), s: encodeScalar(s), yParity: yParity === 0n ? 0 : 1 } as const;
  const signer = signerOf(hexToBytes(digest), signature);
  return signer === null ? null : addressOfPoint(signer);
}
