import type { Bid } from '#chains/bid.ts';
import { memoised } from '#chains/memoised-inspection.ts';
import { hexToBytes, keccak256 } from 'viem/utils';
import { canonicalAddress } from '#chains/evm/rules/address.ts';
import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import type { EncodingFault, UnsignedTransaction } from '#chains/evm/rules/transaction.ts';
import { parseUnsigned } from '#chains/evm/rules/transaction.ts';
import { callOf } from '#chains/evm/rules/call.ts';
import { messagePreimage } from '#chains/evm/rules/message.ts';
import { parseAmount, unitsOf } from '#domain/asset/amount.ts';
import type { MessageIntent, OnChainIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

export type EvmPayloadFault =
  | 'intent-not-canonical'
  | EncodingFault
  | 'wrong-message'
  | 'wrong-chain'
  | 'wrong-recipient'
  | 'wrong-value'
  | 'wrong-data'
  | 'nonce-out-of-range'
  | 'gas-out-of-range'
  | 'tip-above-fee'
  | 'fee-above-cap';

/** The proven content of the bytes. */
export interface EvmPayload {
  readonly kind: 'transaction';
  /** 32 bytes: keccak256 of the payload; this digest is signed. */
  readonly signingDigest: Uint8Array;
  /** The same digest as a list of one, because ECDSA signs a digest. */
  readonly signedMessages: readonly [Uint8Array];
  /**
   * Wei: gas limit times the highest price per gas. On an OP-stack chain the data fee is added; no
   * bytes can limit it.
   */
  readonly maxFee: bigint;
  readonly bid: Bid;
}

/** A message that was proven to be the one of its intent. */
export interface EvmMessage {
  readonly kind: 'message';
  /** 32 bytes: keccak256 of the prefixed message; this digest is signed. */
  readonly signingDigest: Uint8Array;
  readonly signedMessages: readonly [Uint8Array];
}

/** EIP-2681: the account nonce stays below 2^64 - 1. */
const NONCE_LIMIT = 2n ** 64n - 1n;
/** RPC nodes store gas in 64 bits. */
const GAS_LIMIT = 2n ** 64n;

/**
 * Proves that bytes are the one EIP-1559 transaction that executes an intent: its chain, its
 * recipient, its value, its calldata byte for byte, nothing else, in the only encoding of these
 * fields, at no more than the intent's fee.
 *
 * Refuses, in order: `intent-not-canonical`, the faults of the encoding, `wrong-chain`,
 * `wrong-recipient`, `wrong-value`, `wrong-data`, `nonce-out-of-range`, `gas-out-of-range`,
 * `tip-above-fee`, `fee-above-cap`.
 */
export const inspectEvmPayload = memoised(
  (intent: OnChainIntent, payload: string): Result<EvmPayload, EvmPayloadFault> => {
    const requested = demandOf(intent);
    if (requested === null) return refused('intent-not-canonical');
    const parsed = typeof payload === 'string' ? parseUnsigned(payload) : refused('malformed' as const);
    if (!parsed.ok) return parsed;
    const transaction = parsed.value;
    const fault = effectFault(transaction, requested) ?? costFault(transaction, requested.maxFee);
    if (fault !== null) return refused(fault);
    const { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
    const signingDigest = hexToBytes(keccak256(hexToBytes(`0x${payload.slice(2)}`)));
    return accepted({
      kind: 'transaction',
      signingDigest,
      signedMessages: [signingDigest],
      maxFee: gasLimit * maxFeePerGas,
      bid: { nonce, maxFee: maxFeePerGas, maxTip: maxPriorityFeePerGas, minRisePercent: 110n },
    });
  },
);

/**
 * Proves that bytes are the message of an intent, with the prefix that no transaction has. Refuses,
 * in order: `intent-not-canonical`, `wrong-message`.
 */
export function inspectEvmMessage(intent: MessageIntent, payload: string): Result<EvmMessage, EvmPayloadFault> {
  const from: unknown = intent.from;
  const isWallet = typeof from === 'string' && canonicalAddress(from) !== null;
  const requested = isWallet && chainIdOf(intent.chain) !== null ? messagePreimage(intent) : null;
  if (requested === null) return refused('intent-not-canonical');
  if (payload !== requested) return refused('wrong-message');
  const signingDigest = hexToBytes(keccak256(requested));
  return accepted({ kind: 'message', signingDigest, signedMessages: [signingDigest] });
}

interface Demand {
  readonly chainId: bigint;
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
  readonly maxFee: bigint;
}

/**
 * Returns what an intent requires of its bytes. An intent may come from a lying coordinator, so
 * every field is checked again, whatever its type claims. A list with one text in it would
 * otherwise pass for that text in many expressions.
 */
function demandOf(intent: OnChainIntent): Demand | null {
  const texts = textsOf(intent);
  if (texts === null || texts.some((text) => typeof text !== 'string')) return null;
  const chainId = chainIdOf(intent.chain);
  const call = callOf(intent);
  const maxFee = parseAmount(intent.maxFee);
  if (chainId === null || call === null || maxFee === null || canonicalAddress(intent.from) === null) return null;
  return { chainId, to: call.to.toLowerCase(), value: call.value, data: call.data, maxFee: unitsOf(maxFee) };
}

/** Returns every field of an intent that must be a text; null for an unknown kind. */
function textsOf(intent: OnChainIntent): readonly unknown[] | null {
  const frame = [intent.chain, intent.from, intent.maxFee];
  switch (intent.kind) {
    case 'transfer':
      return [...frame, intent.to, intent.amount, ...(intent.tokenAddress === null ? [] : [intent.tokenAddress])];
    case 'contract-interaction':
      return [...frame, intent.to, intent.data, intent.value];
    case 'erc20-approve':
      return [...frame, intent.tokenAddress, intent.spender, intent.amount];
    default:
      return null;
  }
}

function effectFault(transaction: UnsignedTransaction, requested: Demand): EvmPayloadFault | null {
  if (transaction.chainId !== requested.chainId) return 'wrong-chain';
  if (transaction.to !== requested.to) return 'wrong-recipient';
  if (transaction.value !== requested.value) return 'wrong-value';
  return transaction.data === requested.data ? null : 'wrong-data';
}

function costFault(transaction: UnsignedTransaction, cap: bigint): EvmPayloadFault | null {
  const { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  if (nonce >= NONCE_LIMIT) return 'nonce-out-of-range';
  if (gasLimit === 0n || gasLimit >= GAS_LIMIT) return 'gas-out-of-range';
  if (maxPriorityFeePerGas > maxFeePerGas) return 'tip-above-fee';
  return gasLimit * maxFeePerGas > cap ? 'fee-above-cap' : null;
}
