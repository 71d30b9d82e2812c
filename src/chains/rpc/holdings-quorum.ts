import { readFromPool, asChainFault } from '#chains/rpc/node-fallback.ts';
import type { Holdings } from '#chains/chain-client.ts';
import type { ChainFault } from '#chains/chain-rules.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { NO_NODE } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Asset } from '#domain/activity/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** A query of one RPC node. */
export interface HoldingsQuery {
  readonly address: string;
  readonly assets: readonly Asset[];
  /**
   * The block that another RPC node has reported, where the chain can be read at one; null for the
   * block that this node chooses.
   */
  readonly at: string | null;
}

type HoldingsReader = (node: RpcNode, query: HoldingsQuery) => Promise<Result<Holdings, NodeProblem>>;

/**
 * Returns the holdings of a wallet from the first usable RPC node, or from two nodes when proof is
 * required. Refuses as they do.
 */
export async function readHoldings(
  pool: NodePool,
  { requiresProof, ...request }: Omit<HoldingsQuery, 'at'> & { readonly requiresProof: boolean },
  read: HoldingsReader,
): Promise<Result<Holdings, ChainFault>> {
  const query = { ...request, at: null };
  return requiresProof
    ? asChainFault(await agreedHoldings(pool, query, read))
    : readFromPool(pool, (node) => read(node, query));
}

/**
 * Returns the holdings that two RPC nodes report, where two are configured, at the same block: one
 * alone can lie, and its report changes a balance here. Amounts on which they differ count as not
 * reported and are read again later. Refuses when a second node is configured and is unreachable,
 * or does not have the block.
 */
async function agreedHoldings(
  pool: NodePool,
  query: HoldingsQuery,
  read: HoldingsReader,
): Promise<Result<Holdings, NodeProblem>> {
  let problem: NodeProblem = NO_NODE;
  let stated: Holdings | null = null;
  let request = query;
  for (const node of pool.nodes) {
    const poolProblem = await pool.nodeProblem(node);
    const held: Result<Holdings, NodeProblem> = poolProblem === null ? await read(node, request) : refused(poolProblem);
    if (!held.ok) {
      problem = held.refusal;
      continue;
    }
    if (stated !== null) return accepted(commonOf(stated, held.value));
    if (pool.nodes.length === 1) return held;
    stated = held.value;
    request = { ...query, at: stated.blockNumber };
  }
  return refused(problem);
}

function commonOf(one: Holdings, other: Holdings): Holdings {
  const older = BigInt(one.blockNumber) < BigInt(other.blockNumber) ? one : other;
  const amounts = one.amounts.map((amount, i) => (amount === other.amounts[i] ? amount : null));
  const isDisputed = amounts.some((amount, i) => amount !== one.amounts[i]);
  return { blockNumber: older.blockNumber, amounts, isDisputed };
}
