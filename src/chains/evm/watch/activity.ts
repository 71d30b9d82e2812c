import { getAddress } from 'viem/utils';
import { checkAbsence } from '#chains/rpc/absence-check.ts';
import { BLOCK_CALLS } from '#chains/evm/client/block-calls.ts';
import { depthOf } from '#chains/evm/client/depth.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import { feeOf } from '#chains/evm/watch/execution.ts';
import { withCollectibles } from '#chains/evm/watch/collectibles.ts';
import { movementsIn, ownPayment } from '#chains/evm/watch/movements.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { KnownTransaction, Receipt } from '#chains/evm/client/rpc-calls.ts';
import { getBlock, getReceipt, getTransaction } from '#chains/evm/client/rpc-calls.ts';
import { traceTransaction } from '#chains/evm/client/trace-calls.ts';
import type { ReadTransaction } from '#chains/chain-client.ts';
import type { ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Returns a transaction with all its movements from one RPC node; null when the node does not have
 * it. A failed one has no movements. For an unconfirmed one it returns its own payment; it is
 * reported as such only when no block held it before. The receipt is required, and the trace is
 * not: when the node has none that can be read, whatever the reason, it returns the top call and
 * the logs, and no payments by contracts.
 */
export async function readActivity(
  node: RpcNode,
  chain: Chain,
  { hash, found }: { readonly hash: string; readonly found: ActivityBlock | null },
): Promise<Result<ReadTransaction | null, NodeProblem>> {
  const head = await node.request(getBlock('latest'));
  if (!head.ok) return head;
  const [receipt, known] = await Promise.all([node.request(getReceipt(hash)), node.request(getTransaction(hash))]);
  if (!receipt.ok) return receipt;
  if (!known.ok) return known;
  if (head.value === null) return unusable('The RPC node has no newest block.');
  if (receipt.value === null) {
    // The RPC node may have mined it between the two calls.
    const waits = found === null && known.value?.mined === false;
    return waits
      ? accepted(waiting(hash, known.value))
      : checkAbsence(node, chain, { block: found, hashes: [hash] }, BLOCK_CALLS);
  }
  if (known.value === null) return unusable('The RPC node has a receipt without its transaction.');
  // The chain mints the amount of a deposit also when its call fails.
  const hasFailed = !receipt.value.succeeded && known.value.mint === 0n;
  const { blockNumber, blockHash } = receipt.value;
  const [block, finalized, trace] = await Promise.all([
    node.request(getBlock(blockNumber)),
    node.request(getBlock('finalized')),
    hasFailed ? null : node.request(traceTransaction(hash)),
  ]);
  if (!block.ok) return block;
  if (block.value?.hash !== blockHash) return unusable('The receipt is from a block that the RPC node does not have.');
  if (!finalized.ok && finalized.refusal.kind === 'no-answer') return finalized;
  const cost = costOf(known.value, receipt.value);
  if (cost === null) return unusable('The RPC node returned an impossible fee.');
  const depth = depthOf(blockNumber, { chain, head: head.value, finalized });
  const mined = { hash, ...cost, block: { number: blockNumber.toString(), hash: blockHash, ...depth } };
  if (trace === null) return accepted({ ...mined, movements: [], hasFailed: true });
  const movements = movementsIn(receipt.value, known.value, { trace: trace.ok ? trace.value : null, chain });
  return accepted({
    ...mined,
    movements: await withCollectibles(node, movements, { chain, block: blockNumber }),
    ...(trace.ok ? {} : { untracedBy: [node.host], isUntraced: true as const }),
  });
}

/**
 * Returns null for a fee that no chain can carry. A transaction that no key signed costs its sender
 * nothing.
 */
function costOf(
  { isUnsigned, from }: KnownTransaction,
  receipt: Receipt,
): Pick<ChainTransaction, 'signer' | 'fee'> | null {
  if (isUnsigned) return { signer: null, fee: amountOf(0n) };
  const fee = feeOf(receipt);
  return fee === null ? null : { signer: getAddress(from), fee };
}

/** Its cost and the actions of contracts are unknown before it is mined. */
function waiting(hash: string, known: KnownTransaction): ChainTransaction {
  return {
    hash,
    signer: known.isUnsigned ? null : getAddress(known.from),
    fee: null,
    block: null,
    movements: ownPayment(known),
  };
}
