import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Quote } from '#chains/chain-rules.ts';
import { offchainMessage } from '#chains/solana/rules/message.ts';
import { payloadHex } from '#chains/payload-hex.ts';
import { inspectSolanaPayload } from '#chains/solana/rules/payload.ts';
import type { DurableNonce, Terms } from '#chains/solana/rules/payment-terms.ts';
import { messageBytes } from '#chains/solana/rules/transaction.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ComposedBytes } from '#domain/transaction/event.ts';
import type { MessageIntent, OnChainIntent } from '#domain/transaction/intent.ts';

/** All terms except the durable nonce. */
export interface SolanaQuote extends Quote, Omit<Terms, 'anchor'> {}

/**
 * What the bytes depend on, the slot at which it was read, and the last block height that can hold
 * them; null when they do not expire.
 */
export interface CurrentNonce {
  readonly anchor: DurableNonce;
  readonly slot: bigint;
  readonly validUntil: bigint | null;
}

/**
 * Returns the unsigned message of an intent, and its maximum cost. It passes the same inspection
 * that every co-signer performs. Bytes that fail it are a bug here: they cause an exception and are
 * never stored.
 */
export function composeTransaction(
  intent: OnChainIntent,
  quoted: Omit<Terms, 'anchor'>,
  { anchor, slot, validUntil }: CurrentNonce,
): ComposedBytes {
  if (intent.kind !== 'transfer') throw new Error('a stored intent is not a transfer');
  const bytes = messageBytes(intent, { ...quoted, anchor });
  if (bytes === null) throw new Error('a stored intent is not in canonical form');
  const payload = payloadHex(bytes);
  const inspected = inspectSolanaPayload(intent, payload);
  if (!inspected.ok) throw new Error(`composed bytes that do not fit their intent: ${inspected.refusal}`);
  const { signingDigest, maxFee } = inspected.value;
  return {
    nonce: String(anchor.nonceSlot),
    payload,
    signingDigest: `0x${bytesToHex(signingDigest)}`,
    maxFee: amountOf(maxFee),
    validUntil: validUntil === null ? null : validUntil.toString(),
    anchoredAt: slot.toString(),
  };
}

/** Returns what is signed for a message, and its hash, in hex. */
export function composeMessage(intent: MessageIntent): { readonly payload: string; readonly signingDigest: string } {
  const bytes = offchainMessage(intent);
  if (bytes === null) throw new Error('a stored message is not in canonical form');
  return { payload: payloadHex(bytes), signingDigest: `0x${bytesToHex(sha256(bytes))}` };
}
