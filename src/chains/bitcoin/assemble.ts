import { schnorr } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { ChainFault, ChainSignature } from '#chains/chain-adapter.ts';
import { messageSignature, signedMessage } from '#chains/bitcoin/message.ts';
import { inspectBitcoinPayload } from '#chains/bitcoin/payload.ts';
import { transactionOf } from '#chains/bitcoin/transaction.ts';
import type { MessageIntent, OnChainIntent } from '#domain/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt } from '#domain/transaction.ts';

/**
 * Joins the stored bytes and the signatures of the co-signers to a transaction: between approval and network this is the last look.
 *
 * Refuses, in order: bytes that are not the intent; a digest or fee that is not the attempt's; not as many signatures as coins; one of
 * another scheme; one that is not by the intent's wallet over exactly its coin in these bytes.
 */
export function assembleTransaction(
  intent: OnChainIntent,
  attempt: Attempt,
  signatures: readonly ChainSignature[],
): Result<{ readonly raw: string; readonly hash: string }, ChainFault> {
  const inspected = inspectBitcoinPayload(intent, attempt.payload);
  if (!inspected.ok) return refused({ detail: `the payload does not fit the intent: ${inspected.refusal}` });
  const { signingDigest, signedMessages, maxFee, payment, terms } = inspected.value;
  if (`0x${bytesToHex(signingDigest)}` !== attempt.signingDigest) {
    return refused({ detail: 'another digest was to be signed' });
  }
  if (maxFee.toString() !== attempt.maxFee) return refused({ detail: 'the payload has another fee' });
  if (signatures.length !== signedMessages.length) return refused({ detail: 'every coin takes one signature' });
  const transaction = transactionOf(payment, terms);
  // Of a P2TR script the x-coordinate of the key is all but the first two bytes (BIP-341).
  const outputKey = payment.own.subarray(2);
  for (const [i, signature] of signatures.entries()) {
    if (!('bytes' in signature)) return refused({ detail: 'a signature of another scheme' });
    const message = signedMessages[i];
    if (message === undefined || !schnorr.verify(signature.bytes, message, outputKey)) {
      return refused({ detail: 'signed by another wallet' });
    }
    transaction.updateInput(i, { finalScriptWitness: [signature.bytes] }, true);
  }
  return accepted({ raw: `0x${bytesToHex(Uint8Array.from(transaction.extract()))}`, hash: transaction.id });
}

/** The signature of a message as wallets give it (BIP-322), in base64. Refuses one that is not by the intent's wallet. */
export function assembleMessage(intent: MessageIntent, signature: ChainSignature): Result<string, ChainFault> {
  if (!('bytes' in signature)) return refused({ detail: 'a signature of another scheme' });
  const message = signedMessage(intent);
  if (message === null) return refused({ detail: 'the message is not in canonical form' });
  const given = messageSignature(message, signature.bytes);
  return given === null ? refused({ detail: 'signed by another wallet' }) : accepted(given);
}
