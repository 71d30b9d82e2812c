import type { BroadcastVerdict } from '#chains/chain-adapter.ts';
import type { NodePool } from '#chains/rpc/node-pool.ts';
import { NO_NODE } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';

/**
 * Which verdict stands when nodes give different ones. The network has what one node took. A price that is too low and a spent
 * coin or nonce are answers that the next attempt or the next look puts to the test; where nodes refuse and one is silent, that
 * one may have kept the bytes.
 */
const PRECEDENCE = ['accepted', 'underpriced', 'conflicted', 'unknown', 'refused'] as const;

/**
 * Hands signed bytes to every configured node, and returns what follows from all their answers. One node that takes the bytes and
 * passes them on to no other, or that gives a false reason against them, would stop the wallet if it were the only one asked.
 *
 * `refused` gives the transaction up. So it is the verdict only when every node refuses, and none can have kept the bytes: a node that
 * cannot be asked now may have been sent them before (`undecided`). A node of another network was never sent anything.
 */
export async function broadcastToAll(
  pool: NodePool,
  send: (node: RpcNode) => Promise<BroadcastVerdict>,
): Promise<BroadcastVerdict> {
  const answers = await Promise.all(
    pool.nodes.map(async (node) => {
      const problem = await pool.nodeProblem(node);
      return problem === null ? { verdict: await send(node) } : { problem: problem };
    }),
  );
  const verdicts = answers.flatMap(({ verdict }) => verdict ?? []);
  const problems = answers.flatMap(({ problem }) => problem ?? []);
  const [agreement] = PRECEDENCE.flatMap((outcome) => verdicts.find((verdict) => verdict.outcome === outcome) ?? []);
  if (agreement === undefined) return { outcome: 'unknown', answer: (problems.at(-1) ?? NO_NODE).detail };
  const isUnreachable = problems.some(({ kind }) => kind !== 'unusable');
  return agreement.outcome === 'refused' && isUnreachable ? { ...agreement, outcome: 'undecided' } : agreement;
}
