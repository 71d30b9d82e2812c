import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { BlockTransaction, WholeBlock } from '#chains/evm/client/block-contents.ts';
import { getBlockOf } from '#chains/evm/client/block-contents.ts';
import { getNonce } from '#chains/evm/client/rpc-calls.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * What used an account nonce. `unexplained`: it is used, and the RPC node has too little state or
 * history to name the transaction.
 */
export type NonceConsumer =
  | { readonly kind: 'unused' }
  | { readonly kind: 'unexplained' }
  | { readonly kind: 'named'; readonly block: WholeBlock; readonly transaction: BlockTransaction };

export interface NonceQuery {
  readonly from: string;
  readonly nonce: bigint;
  /** The newest block of the RPC node. */
  readonly head: bigint;
}

const UNEXPLAINED: NonceConsumer = { kind: 'unexplained' };

/**
 * Returns the transaction that used a nonce of an account. It is in the block after which the
 * account's count exceeds the nonce. A count alone proves that some transaction used the nonce, and
 * not which one.
 */
export async function findNonceConsumer(
  node: RpcNode,
  request: NonceQuery,
): Promise<Result<NonceConsumer, NodeProblem>> {
  const { from, nonce } = request;
  const newest = await node.request(getNonce(from, 'latest'));
  if (!newest.ok) return newest;
  if (newest.value <= nonce) return accepted({ kind: 'unused' });
  const number = await blockOfUse(node, request);
  if (!number.ok) return number;
  if (number.value === null) return accepted(UNEXPLAINED);
  const block = await node.request(getBlockOf(number.value, from));
  if (!block.ok) return block.refusal.kind === 'no-answer' ? block : accepted(UNEXPLAINED);
  // After a reorg during the search, or on an RPC node without this block, no such transaction is
  // found.
  const transaction = block.value?.transactions.find((one) => one.from === from.toLowerCase() && one.nonce === nonce);
  return accepted(
    block.value == null || transaction === undefined ? UNEXPLAINED : { kind: 'named', block: block.value, transaction },
  );
}

/**
 * How an account's count after a block compares with a nonce. Most RPC nodes keep only the state of
 * the last 128 blocks.
 */
type Use = 'used' | 'unused' | 'no-state';

/**
 * Returns the block that used the nonce, by bisection; null when the RPC node does not have the
 * state before it.
 */
async function blockOfUse(node: RpcNode, request: NonceQuery): Promise<Result<bigint | null, NodeProblem>> {
  const { head } = request;
  const atHead = await useAfter(node, request, head);
  if (!atHead.ok) return atHead;
  // Behind a load balancer another RPC node, with a newer head, may have answered before.
  if (atHead.value !== 'used') return accepted(null);
  // No nonce is used before the first block.
  let [used, floor, isFloorUnused] = [head, -1n, true];
  // The use is nearly always recent: doubling steps reach it sooner than bisecting the whole chain.
  for (let depth = 1n; depth <= head && floor < 0n; depth *= 2n) {
    const use = await useAfter(node, request, head - depth);
    if (!use.ok) return use;
    if (use.value === 'used') used = head - depth;
    else [floor, isFloorUnused] = [head - depth, use.value === 'unused'];
  }
  while (used - floor > 1n) {
    const middle = (used + floor) / 2n;
    const use = await useAfter(node, request, middle);
    if (!use.ok) return use;
    if (use.value === 'used') used = middle;
    else [floor, isFloorUnused] = [middle, use.value === 'unused'];
  }
  return accepted(isFloorUnused ? used : null);
}

async function useAfter(node: RpcNode, { from, nonce }: NonceQuery, block: bigint): Promise<Result<Use, NodeProblem>> {
  const count = await node.request(getNonce(from, block));
  if (!count.ok) return count.refusal.kind === 'no-answer' ? count : accepted('no-state');
  return accepted(count.value > nonce ? 'used' : 'unused');
}
