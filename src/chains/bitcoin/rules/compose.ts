import { bytesToHex } from '@noble/hashes/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Quote } from '#chains/chain-rules.ts';
import { signedMessage } from '#chains/bitcoin/rules/message.ts';
import { inspectBitcoinPayload } from '#chains/bitcoin/rules/payload.ts';
import { payloadHex } from '#chains/payload-hex.ts';
import type { SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import { paymentOf, psbtOf, transactionOf } from '#chains/bitcoin/rules/transaction.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ComposedBytes } from '#domain/transaction/event.ts';
import type { MessageIntent, OnChainIntent } from '#domain/transaction/intent.ts';
import type { UtxoParent } from '#domain/transaction/transaction.ts';

export interface BitcoinQuote extends Quote {
  readonly terms: SpendPlan;
  /** What the transactions that made the UTXOs spend. */
  readonly parents?: readonly UtxoParent[];
}

/**
 * Returns the unsigned transaction of an intent as a PSBT. It passes the same inspection that every
 * co-signer performs. Bytes that fail it are a bug here: they cause an exception and are never
 * stored.
 *
 * @param nonce among the payments of the wallet that are in flight
 */
export function composeTransaction(
  intent: OnChainIntent,
  { terms, parents = [] }: Pick<BitcoinQuote, 'terms' | 'parents'>,
  nonce: bigint,
): ComposedBytes {
  const payment = intent.kind === 'transfer' ? paymentOf(intent) : null;
  if (payment === null) throw new Error('a stored intent is not a transfer, or not in canonical form');
  const payload = payloadHex(psbtOf(transactionOf(payment, terms)));
  const inspected = inspectBitcoinPayload(intent, payload);
  if (!inspected.ok) throw new Error(`composed bytes that do not fit their intent: ${inspected.refusal}`);
  const { signingDigest, maxFee } = inspected.value;
  return {
    nonce: nonce.toString(),
    payload,
    signingDigest: `0x${bytesToHex(signingDigest)}`,
    maxFee: amountOf(maxFee),
    validUntil: null,
    ...(parents.length === 0 ? {} : { coinParents: parents }),
  };
}

/** Returns the virtual transaction of a message and its hash, in hex. */
export function composeMessage(intent: MessageIntent): { readonly payload: string; readonly signingDigest: string } {
  const signed = signedMessage(intent);
  if (signed === null) throw new Error('a stored message is not in canonical form');
  return { payload: payloadHex(signed.bytes), signingDigest: `0x${bytesToHex(sha256(signed.bytes))}` };
}
