import { hexToBytes, keccak256 } from 'viem/utils';
import { canonicalAddress } from '#chains/evm/address.ts';
import { chainIdOf } from '#chains/evm/chain-id.ts';
import type { EncodingFault, UnsignedTransaction } from '#chains/evm/transaction.ts';
import { parseUnsigned } from '#chains/evm/transaction.ts';
import { transferCall } from '#chains/evm/transfer-call.ts';
import { parseAmount, unitsOf } from '#domain/amount.ts';
import type { Intent } from '#domain/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

export type EvmPayloadFault =
  | 'intent-not-canonical'
  | EncodingFault
  | 'wrong-chain'
  | 'wrong-recipient'
  | 'wrong-value'
  | 'wrong-data'
  | 'nonce-out-of-range'
  | 'gas-out-of-range'
  | 'tip-above-fee'
  | 'fee-above-cap';

/** What the bytes were proven to be. */
export interface EvmPayload {
  /** 32 bytes: keccak256 of the payload, which is what is signed. */
  readonly signingDigest: Uint8Array;
  readonly nonce: bigint;
  /** Wei: gas limit times the highest price per gas. On an OP-stack chain the data fee comes on top; no bytes can bound it. */
  readonly maxFee: bigint;
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };
}

/** EIP-2681: the account nonce stays below 2^64 - 1. */
const NONCE_LIMIT = 2n ** 64n - 1n;
/** Nodes hold gas in 64 bits. */
const GAS_LIMIT = 2n ** 64n;

/**
 * Proves that bytes are the one EIP-1559 transaction that carries out an intent: its chain, its recipient, its value, its
 * calldata byte for byte, nothing else, in the only encoding that these fields have, at no more than the intent's fee.
 *
 * Refuses, in order: `intent-not-canonical`, the faults of the encoding, `wrong-chain`, `wrong-recipient`, `wrong-value`,
 * `wrong-data`, `nonce-out-of-range`, `gas-out-of-range`, `tip-above-fee`, `fee-above-cap`.
 */
export function inspectEvmPayload(intent: Intent, payload: string): Result<EvmPayload, EvmPayloadFault> {
  const wanted = demandOf(intent);
  if (wanted === null) return refused('intent-not-canonical');
  const parsed = typeof payload === 'string' ? parseUnsigned(payload) : refused('malformed' as const);
  if (!parsed.ok) return parsed;
  const transaction = parsed.value;
  const fault = effectFault(transaction, wanted) ?? costFault(transaction, wanted.maxFee);
  if (fault !== null) return refused(fault);
  const { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  return accepted({
    signingDigest: hexToBytes(keccak256(hexToBytes(`0x${payload.slice(2)}`))),
    nonce,
    maxFee: gasLimit * maxFeePerGas,
    fees: { maxFeePerGas, maxPriorityFeePerGas },
  });
}

interface Demand {
  readonly chainId: bigint;
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
  readonly maxFee: bigint;
}

/**
 * An intent may come from a coordinator that lies: every field is looked at again, whatever its type claims. A list with one text
 * in it would pass for that text in many places.
 */
function demandOf(intent: Intent): Demand | null {
  const texts: readonly unknown[] = [intent.chain, intent.from, intent.to, intent.amount, intent.maxFee];
  if (intent.kind !== 'transfer' || texts.some((text) => typeof text !== 'string')) return null;
  if (intent.tokenAddress !== null && typeof intent.tokenAddress !== 'string') return null;
  const chainId = chainIdOf(intent.chain);
  const call = transferCall(intent);
  const maxFee = parseAmount(intent.maxFee);
  if (chainId === null || call === null || maxFee === null || canonicalAddress(intent.from) === null) return null;
  return { chainId, to: call.to.toLowerCase(), value: call.value, data: call.data, maxFee: unitsOf(maxFee) };
}

function effectFault(transaction: UnsignedTransaction, wanted: Demand): EvmPayloadFault | null {
  if (transaction.chainId !== wanted.chainId) return 'wrong-chain';
  if (transaction.to !== wanted.to) return 'wrong-recipient';
  if (transaction.value !== wanted.value) return 'wrong-value';
  return transaction.data === wanted.data ? null : 'wrong-data';
}

function costFault(transaction: UnsignedTransaction, cap: bigint): EvmPayloadFault | null {
  const { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  if (nonce >= NONCE_LIMIT) return 'nonce-out-of-range';
  if (gasLimit === 0n || gasLimit >= GAS_LIMIT) return 'gas-out-of-range';
  if (maxPriorityFeePerGas > maxFeePerGas) return 'tip-above-fee';
  return gasLimit * maxFeePerGas > cap ? 'fee-above-cap' : null;
}
