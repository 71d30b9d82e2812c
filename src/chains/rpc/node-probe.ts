import type { BlockCalls } from '#chains/rpc/absence-check.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain, ChainFamily } from '#domain/asset/chain.ts';
import { alertedLagBlocks } from '#domain/asset/chain.ts';
import type { NodeAbilities, NodeProbe } from '#domain/operations/rpc-node.ts';

/** Deep enough that no reorg of a healthy chain changes the block. */
const DEPTHS: Readonly<Record<ChainFamily, bigint>> = { evm: 64n, solana: 64n, bitcoin: 6n };

interface ProbeCalls extends Pick<BlockCalls, 'getHash' | 'getHead'> {
  /** Reads what a node can do besides, by a block that it has. */
  readonly abilities?: (
    node: RpcNode,
    block: { readonly number: bigint; readonly hash: string },
  ) => Promise<NodeAbilities>;
}

/**
 * Reads the chain, the newest number and one block hash of each RPC node of a pool, in its order.
 * The block is the same for all nodes that are not behind.
 */
export async function probePool(
  pool: NodePool,
  chain: Pick<Chain, 'family' | 'pollIntervalMs'>,
  calls: ProbeCalls,
): Promise<readonly NodeProbe[]> {
  const found = await Promise.all(pool.nodes.map((node) => headOf(pool, node, calls)));
  const heads = found.flatMap(({ head }) => (head === null ? [] : [head])).toSorted((a, b) => (a < b ? 1 : -1));
  // One of three or more nodes that states an impossible number puts no other one behind.
  const newest = heads[heads.length > 2 ? 1 : 0] ?? 0n;
  const probes = found.map((probe) => ({ ...probe, lag: probe.head === null ? null : lagOf(probe.head, newest) }));
  const isCurrent = (lag: bigint | null) => lag !== null && lag <= alertedLagBlocks(chain);
  const lowest = heads.findLast((head) => isCurrent(lagOf(head, newest))) ?? 0n;
  const number = lowest - DEPTHS[chain.family];
  return Promise.all(
    probes.map(async (probe, i): Promise<NodeProbe> => {
      const node = pool.nodes[i];
      if (node === undefined || !isCurrent(probe.lag) || number < 0n) return probe;
      const hash = await twice(() => node.request(calls.getHash(number)));
      if (!hash.ok) return { ...probe, error: hash.refusal.detail };
      const { value } = hash;
      if (calls.abilities === undefined || value === null) return { ...probe, hash: value };
      return { ...probe, hash: value, abilities: await calls.abilities(node, { number, hash: value }) };
    }),
  );
}

function lagOf(head: bigint, newest: bigint): bigint {
  return newest > head ? newest - head : 0n;
}

async function headOf(pool: NodePool, node: RpcNode, { getHead }: Pick<BlockCalls, 'getHead'>): Promise<NodeProbe> {
  const unknown = { host: node.host, head: null, lag: null, otherChain: null, error: null, hash: undefined };
  // One lost answer is no alert, so each call is sent twice before it counts as unanswered.
  const problem = (await pool.nodeProblem(node)) && (await pool.nodeProblem(node));
  if (problem !== null) return { ...unknown, otherChain: servedBy(problem), error: problem.detail };
  const head = await twice(() => node.request(getHead));
  return head.ok ? { ...unknown, head: head.value } : { ...unknown, error: head.refusal.detail };
}

function servedBy(problem: NodeProblem): string | null {
  return problem.kind === 'unusable' ? (problem.serves ?? null) : null;
}

async function twice<T extends { readonly ok: boolean }>(call: () => Promise<T>): Promise<T> {
  const first = await call();
  return first.ok ? first : call();
}
