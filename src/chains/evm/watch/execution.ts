import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { KnownTransaction, Receipt } from '#chains/evm/client/rpc-calls.ts';
import { replay } from '#chains/evm/client/rpc-calls.ts';
import { revertReason } from '#chains/evm/client/revert.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { parseAmount } from '#domain/asset/amount.ts';

/** Returns what a mined transaction cost, in wei; null for a fee that no chain can carry. */
export function feeOf({ gasUsed, effectiveGasPrice, rollupFee }: Receipt): Amount | null {
  return parseAmount((gasUsed * effectiveGasPrice + rollupFee).toString());
}

/**
 * Returns why a mined transaction failed; null when its receipt has status 1. Only the receipt
 * decides: what a log does not show is no failure (see `token-transfer.ts`).
 */
export async function executionFailure(
  node: RpcNode,
  receipt: Receipt,
  known: KnownTransaction,
): Promise<string | null> {
  if (receipt.succeeded) return null;
  if (receipt.gasUsed === known.gasLimit) return 'The transaction used all of its gas.';
  // The state after the block is the only one that every RPC node still has, and the cause of the
  // failure is nearly always still present in it. When a node cannot replay the transaction, its
  // failure is reported without the reason.
  const replayed = await node.request(replay(known, receipt.blockNumber));
  return (replayed.ok ? null : revertReason(replayed.refusal)) ?? 'The transaction reverted.';
}
