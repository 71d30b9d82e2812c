import type { WatchedAttempts } from '#chains/chain-adapter.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcCall, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { ActivityBlock } from '#domain/activity/activity.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** How a chain is asked whether a block still stands. */
export interface BlockCalls {
  /** For the hash of the block at a number; null for one that the node does not have. */
  readonly getHash: (number: bigint) => RpcCall<string | null>;
  /** For the newest number, where a number may be left out for good: there none can be found in place of the one that was. */
  readonly getHead: RpcCall<bigint> | null;
}

/**
 * What a node does not know of is absent. Where it was found before, only another block in the place of the one that had it shows that; while
 * that one stands the node lags behind with the transaction, and where it has no block there at all it is behind itself.
 */
export async function checkAbsence(
  node: RpcNode,
  found: Pick<ActivityBlock, 'number' | 'hash'> | null,
  { getHash, getHead }: BlockCalls,
): Promise<Result<null, NodeProblem>> {
  if (found === null) return accepted(null);
  const number = BigInt(found.number);
  // First: what was not there at that height is not there at a later one either.
  const head = getHead === null ? null : await node.request(getHead);
  if (head !== null && !head.ok) return head;
  const block = await node.request(getHash(number));
  if (!block.ok) return block;
  if (block.value === found.hash) {
    const detail = 'the node has the recorded block, but not the transaction';
    return refused({ kind: 'unusable', detail, deniesInclusion: true });
  }
  if (block.value !== null) return accepted(null);
  return head === null || head.value < number ? unusable('the node is behind the recorded block') : accepted(null);
}

/** The same of a transaction of the vault's own, by the block that it was found in before. */
export function checkOwnAbsence(
  node: RpcNode,
  { inclusion }: Pick<WatchedAttempts, 'inclusion'>,
  blocks: BlockCalls,
): Promise<Result<null, NodeProblem>> {
  return checkAbsence(
    node,
    inclusion === null ? null : { number: inclusion.blockNumber, hash: inclusion.blockHash },
    blocks,
  );
}
