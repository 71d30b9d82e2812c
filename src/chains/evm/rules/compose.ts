import { bytesToHex, keccak256 } from 'viem/utils';
import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import { inspectEvmPayload } from '#chains/evm/rules/payload.ts';
import { serialiseUnsigned } from '#chains/evm/rules/transaction.ts';
import { callOf } from '#chains/evm/rules/call.ts';
import { messagePreimage } from '#chains/evm/rules/message.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Quote } from '#chains/chain-rules.ts';
import type { ComposedBytes } from '#domain/transaction/event.ts';
import type { MessageIntent, OnChainIntent } from '#domain/transaction/intent.ts';

/** Decimal strings; `maxFee` is the maximum that the bytes can make the wallet pay, in wei. */
export interface EvmQuote extends Quote {
  readonly gasLimit: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
}

/**
 * Returns the unsigned bytes of an intent at a nonce, and their maximum cost. They pass the same
 * inspection that every co-signer performs. Bytes that fail it are a bug here: they cause an
 * exception and are never stored.
 */
export function composeTransaction(intent: OnChainIntent, quote: EvmQuote, nonce: bigint): ComposedBytes {
  const call = callOf(intent);
  const chainId = chainIdOf(intent.chain);
  if (call === null || chainId === null) throw new Error('a stored intent is not in canonical form');
  const payload = serialiseUnsigned({
    chainId,
    nonce,
    maxPriorityFeePerGas: BigInt(quote.maxPriorityFeePerGas),
    maxFeePerGas: BigInt(quote.maxFeePerGas),
    gasLimit: BigInt(quote.gasLimit),
    to: call.to,
    value: call.value,
    data: call.data,
  });
  const inspected = inspectEvmPayload(intent, payload);
  if (!inspected.ok) throw new Error(`composed bytes that do not fit their intent: ${inspected.refusal}`);
  const { signingDigest, maxFee } = inspected.value;
  return {
    nonce: nonce.toString(),
    payload,
    signingDigest: bytesToHex(signingDigest),
    maxFee: amountOf(maxFee),
    validUntil: null,
  };
}

/** Returns what is signed for a message: the prefixed bytes and their hash, in hex. */
export function composeMessage(intent: MessageIntent): { readonly payload: string; readonly signingDigest: string } {
  const payload = messagePreimage(intent);
  if (payload === null) throw new Error('a stored message is not in canonical form');
  return { payload, signingDigest: keccak256(payload) };
}
