import type { BroadcastVerdict } from '#chains/chain-client.ts';
import type { NodePool } from '#chains/rpc/node-pool.ts';
import { NO_NODE } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Objection } from '#domain/transaction/event.ts';

/**
 * The precedence when RPC nodes return different verdicts. When one node accepts the bytes, the
 * network has them, unless that node relays nothing; so the refusal of another one is kept beside.
 * The next attempt or the next observation verifies a price that is too low and a spent UTXO or
 * nonce. When nodes refuse and one is silent, that one may have kept the bytes.
 */
const PRECEDENCE = ['accepted', 'underpriced', 'conflicted', 'unknown', 'refused'] as const;

/**
 * Sends signed bytes to every configured RPC node, and returns the verdict from all their answers.
 * If only one node were called, one that accepts the bytes and relays them to no other, or that
 * returns a false reason against them, would block the wallet.
 *
 * `refused` fails the transaction. So it is the verdict only when every node refuses, and none can
 * have kept the bytes: an unreachable node may have received them before (`undecided`). A node of
 * another network never received them.
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
  if (agreement.outcome === 'accepted') return { ...agreement, ...objectionAmong(verdicts) };
  const isUnreachable = problems.some(({ kind }) => kind !== 'unusable');
  return agreement.outcome === 'refused' && isUnreachable ? { ...agreement, outcome: 'undecided' } : agreement;
}

/** Returns the first refusal of the bytes themselves. A used nonce is decided by the chain. */
function objectionAmong(verdicts: readonly BroadcastVerdict[]): { readonly objection?: Objection } {
  for (const verdict of verdicts) {
    const { outcome } = verdict;
    if (outcome === 'refused' || outcome === 'underpriced')
      return { objection: { answer: verdict.answer, isPrice: outcome === 'underpriced' } };
  }
  return {};
}
