import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcCall, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { ActivityBlock } from '#domain/activity/activity.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { maxLagBlocks } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

type BlockId = Pick<ActivityBlock, 'number' | 'hash'>;

/** The RPC calls for the blocks of a chain. */
export interface BlockCalls {
  /** Reads the hash of the block at a number; null for a block that the RPC node does not have. */
  readonly getHash: (number: bigint) => RpcCall<string | null>;
  /**
   * Reads the hashes of all transactions in a block; null for a block that the RPC node does not
   * have.
   */
  readonly getTransactionHashes: (block: BlockId) => RpcCall<readonly string[] | null>;
  /** Reads the newest number. */
  readonly getHead: RpcCall<bigint>;
  /** True when a number may permanently have no block. */
  readonly skipsNumbers: boolean;
}

/** A recorded inclusion, and the transactions that it may belong to. */
interface Recorded {
  /** Null without a record. */
  readonly block: BlockId | null;
  readonly hashes: readonly string[];
}

/**
 * Accepts that a transaction, which the RPC node does not find by its hash, is absent. When it was
 * recorded in a block, the node must have another block at its number. A node denies the inclusion
 * (`deniesInclusion`) when it has the recorded block itself with all its transactions and without
 * this one, when it permanently has no block there, or when the block is impossibly far ahead of
 * its head. Any other node lags behind.
 */
export async function checkAbsence(
  node: RpcNode,
  chain: Pick<Chain, 'family' | 'pollIntervalMs'>,
  { block: recorded, hashes }: Recorded,
  { getHash, getTransactionHashes, getHead, skipsNumbers }: BlockCalls,
): Promise<Result<null, NodeProblem>> {
  if (recorded === null) return accepted(null);
  const number = BigInt(recorded.number);
  // The head is read first: a block that is missing now at that height is also missing at a later
  // head.
  const head = await node.request(getHead);
  if (!head.ok) return head;
  if (number - head.value > maxLagBlocks(chain))
    return denial('The recorded block is impossibly far ahead of the newest block.', 'no-block');
  const hash = await node.request(getHash(number));
  if (!hash.ok) return hash;
  if (hash.value === null) {
    // An RPC node whose history begins later gives the same answer for a number that has a block.
    const isSkipped = skipsNumbers && head.value >= number;
    return isSkipped
      ? denial('The RPC node has no block with the recorded number.', 'no-block')
      : unusable('The RPC node is behind the recorded block.');
  }
  if (hash.value !== recorded.hash) return accepted(null);
  const held = await node.request(getTransactionHashes(recorded));
  if (!held.ok) return held;
  if (held.value === null) return unusable('The RPC node does not show the transactions of the recorded block.');
  // An RPC node may have the block before it finds its transactions by their hashes.
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

/** Checks the same for a transaction of the vault, by its recorded block. */
export function checkOwnAbsence(
  node: RpcNode,
  chain: Pick<Chain, 'family' | 'pollIntervalMs'>,
  { inclusion, hashes }: Pick<WatchedAttempts, 'inclusion' | 'hashes'>,
  blocks: BlockCalls,
): Promise<Result<null, NodeProblem>> {
  const block = inclusion === null ? null : { number: inclusion.blockNumber, hash: inclusion.blockHash };
  return checkAbsence(node, chain, { block, hashes }, blocks);
}
