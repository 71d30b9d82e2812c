import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { RawTx } from '@scure/btc-signer';
import type { ChainFault, ChainSignature } from '#chains/chain-rules.ts';
import { scriptTypeOf } from '#chains/bitcoin/rules/script-type.ts';
import { messageSignature, signedMessage } from '#chains/bitcoin/rules/message.ts';
import { inspectBitcoinPayload } from '#chains/bitcoin/rules/payload.ts';
import { transactionOf } from '#chains/bitcoin/rules/transaction.ts';
import { signatureIn, witnessOf } from '#chains/bitcoin/rules/witness.ts';
import type { MessageIntent, OnChainIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/**
 * Joins the stored bytes and the co-signers' signatures into a transaction. This is the last check
 * between approval and broadcast.
 *
 * Refuses, in order: bytes that are not the intent; a digest or fee that is not the attempt's; a
 * number of signatures that differs from the number of UTXOs; a signature of another scheme; one
 * that is not by the intent's wallet over exactly its UTXO in these bytes.
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
  if (signatures.length !== signedMessages.length) return refused({ detail: 'each UTXO requires one signature' });
  const transaction = transactionOf(payment, terms);
  const lock = scriptTypeOf(payment.own);
  for (const [i, signature] of signatures.entries()) {
    const message = signedMessages[i];
    if (lock === null || message === undefined)
      throw new Error('a proven payload belongs to no wallet, or has no message for a UTXO');
    const witness = witnessOf(lock, message, signature);
    if (!witness.ok) return refused({ detail: witness.refusal });
    transaction.updateInput(i, { finalScriptWitness: [...witness.value] }, true);
  }
  return accepted({ raw: `0x${bytesToHex(Uint8Array.from(transaction.extract()))}`, hash: transaction.id });
}

/** See `ChainRules.signaturesIn`. */
export function signaturesIn(raw: string): readonly Uint8Array[] {
  const { witnesses = [] } = RawTx.decode(hexToBytes(raw.slice(2)));
  return witnesses.map(signatureIn);
}

/**
 * Returns the signature of a message as wallets return it (BIP-322), in base64. Refuses one that is
 * not by the intent's wallet.
 */
export function assembleMessage(intent: MessageIntent, signature: ChainSignature): Result<string, ChainFault> {
  const message = signedMessage(intent);
  if (message === null) return refused({ detail: 'the message is not in canonical form' });
  const witnesses = messageSignature(message, signature);
  return witnesses.ok ? witnesses : refused({ detail: witnesses.refusal });
}
