import { asChainFault } from '#chains/rpc/node-fallback.ts';
import type { Holdings, NodeHoldings, Reading } from '#chains/chain-client.ts';
import type { ChainFault } from '#chains/chain-rules.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { NO_NODE } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Asset } from '#domain/asset/movement.ts';
import { amountOf } from '#domain/asset/amount.ts';
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

type HoldingsReader = (node: RpcNode, query: HoldingsQuery) => Promise<Result<NodeHoldings, NodeProblem>>;

export const NOT_READ: Reading = { state: 'not-read' };

/** Returns the reading of an asset of which a wallet has these units at the end of this block. */
export function covered(units: bigint, blockNumber: bigint): Reading {
  const block = blockNumber.toString();
  return { state: 'covered', units: amountOf(units), blockNumber: block, lastBlock: block };
}

/** An asset, and what RPC nodes state about it. A node that does not read it states nothing. */
interface Tally {
  readonly asset: Asset;
  readonly statements: Exclude<Reading, { readonly state: 'not-read' }>[];
}

/**
 * Returns the holdings of a wallet from one RPC node, or from two nodes when proof is required and
 * two are configured: one alone can lie, and its report changes a balance here. An asset that a
 * node does not read is requested from the next ones. Refuses when fewer nodes answer, or when the
 * second one does not have the block of the first.
 *
 * A value of two nodes counts when both cover it and state it alike. An asset on which they differ,
 * or that too few nodes cover, is not read, and is read again later.
 */
export async function readHoldings(
  pool: NodePool,
  { requiresProof, address, assets }: Omit<HoldingsQuery, 'at'> & { readonly requiresProof: boolean },
  read: HoldingsReader,
): Promise<Result<Holdings, ChainFault>> {
  const needed = requiresProof && pool.nodes.length > 1 ? 2 : 1;
  const tallies = assets.map((asset): Tally => ({ asset, statements: [] }));
  let problem: NodeProblem = NO_NODE;
  let [answers, at]: [number, string | null] = [0, null];
  for (const node of pool.nodes) {
    const open = tallies.filter(({ statements }) => statements.length < needed);
    if (answers >= needed && open.length === 0) break;
    const nodeProblem = await pool.nodeProblem(node);
    const query: HoldingsQuery = { address, assets: open.map(({ asset }) => asset), at };
    const held: Result<NodeHoldings, NodeProblem> =
      nodeProblem === null ? await read(node, query) : refused(nodeProblem);
    if (!held.ok) {
      problem = held.refusal;
      continue;
    }
    answers += 1;
    at ??= held.value.blockNumber;
    count(open, held.value.readings);
  }
  if (at === null || answers < needed) return asChainFault(refused(problem));
  const isDisputed = tallies.some(({ statements: [one, other] }) => one && other && !isAlike(one, other));
  return accepted({ blockNumber: at, readings: tallies.map((tally) => joined(tally, needed)), isDisputed });
}

function count(tallies: readonly Tally[], readings: readonly Reading[]): void {
  for (const [i, { statements }] of tallies.entries()) {
    const reading = readings[i] ?? NOT_READ;
    if (reading.state !== 'not-read') statements.push(reading);
  }
}

function joined({ statements: [one, other] }: Tally, needed: 1 | 2): Reading {
  if (one === undefined) return NOT_READ;
  if (needed === 1) return one;
  if (other === undefined || !isAlike(one, other)) return NOT_READ;
  if (one.state === 'no-balance' || other.state === 'no-balance') return one;
  const [older, newer] = BigInt(other.blockNumber) < BigInt(one.blockNumber) ? [other, one] : [one, other];
  return { ...older, lastBlock: newer.blockNumber };
}

function isAlike(one: Reading, other: Reading): boolean {
  if (one.state === 'covered' && other.state === 'covered') return one.units === other.units;
  return one.state === other.state;
}
