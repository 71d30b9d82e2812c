import type { WatchedAttempts } from '#chains/chain-adapter.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcCall, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { ActivityBlock } from '#domain/activity/activity.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { maxLagBlocks } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

type BlockId = Pick<ActivityBlock, 'number' | 'hash'>;

/** How the nodes of a chain are asked for blocks. */
export interface BlockCalls {
  /** For the hash of the block at a number; null for one that the node does not have. */
  readonly getHash: (number: bigint) => RpcCall<string | null>;
  /** For the hashes of all transactions in a block; null for one that the node does not have. */
  readonly getTransactionHashes: (block: BlockId) => RpcCall<readonly string[] | null>;
  /** For the newest number. */
  readonly getHead: RpcCall<bigint>;
  /** A number may have no block for good. */
  readonly skipsNumbers: boolean;
}

/** A recorded inclusion, and the transactions that it may be of. */
interface Recorded {
  /** Null where none is recorded. */
  readonly block: BlockId | null;
  readonly hashes: readonly string[];
}

/**
 * Accepts that a transaction, which the node does not find by its hash, is absent. Where it was recorded in a block, that is so when the node
 * has another block there. A node that has the recorded block itself, with all its transactions and without this one, or none there for
 * good, or whose head the block is impossibly far ahead of, denies the inclusion (`deniesInclusion`). Any other node is behind.
 */
export async function checkAbsence(
  node: RpcNode,
  chain: Pick<Chain, 'family' | 'pollIntervalMs'>,
  { block: recorded, hashes }: Recorded,
  { getHash, getTransactionHashes, getHead, skipsNumbers }: BlockCalls,
): Promise<Result<null, NodeProblem>> {
  if (recorded === null) return accepted(null);
  const number = BigInt(recorded.number);
  // First: what was not there at that height is not there at a later one either.
  const head = await node.request(getHead);
  if (!head.ok) return head;
  if (number - head.value > maxLagBlocks(chain))
    return denial('The recorded block is impossibly far ahead of the newest block.', 'no-block');
  const hash = await node.request(getHash(number));
  if (!hash.ok) return hash;
  if (hash.value === null) {
    // A node whose history begins later says the same of a number that has a block.
    const isSkipped = skipsNumbers && head.value >= number;
    return isSkipped
      ? denial('The RPC node has no block with the recorded number.', 'no-block')
      : unusable('The RPC node is behind the recorded block.');
  }
  if (hash.value !== recorded.hash) return accepted(null);
  const held = await node.request(getTransactionHashes(recorded));
  if (!held.ok) return held;
  if (held.value === null) return unusable('The RPC node does not show the transactions of the recorded block.');
  // A node may have the block before it can find its transactions by their hashes.
  return held.value.some((one) => hashes.includes(one))
    ? unusable('The RPC node has the transaction in the recorded block but does not find it by its hash.')
    : denial('The recorded block of the RPC node does not contain the transaction.');
}

export function denial(
  detail: string,
  deniesInclusion: 'block' | 'no-block' = 'block',
): { readonly ok: false; readonly refusal: NodeProblem } {
  return refused({ kind: 'unusable', detail, deniesInclusion });
}

/** The same of a transaction of the vault's own, by the block that it was found in before. */
export function checkOwnAbsence(
  node: RpcNode,
  chain: Pick<Chain, 'family' | 'pollIntervalMs'>,
  { inclusion, hashes }: Pick<WatchedAttempts, 'inclusion' | 'hashes'>,
  blocks: BlockCalls,
): Promise<Result<null, NodeProblem>> {
  const block = inclusion === null ? null : { number: inclusion.blockNumber, hash: inclusion.blockHash };
  return checkAbsence(node, chain, { block, hashes }, blocks);
}
