import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { refused } from '#domain/result.ts';

/** The operator's nodes of one chain, in order of preference. */
export interface NodePool {
  readonly nodes: readonly RpcNode[];
  /** Null when the node serves the fleet's chain. */
  readonly nodeProblem: (node: RpcNode) => Promise<NodeProblem | null>;
}

/** `unusable`: the node answers, but what it says cannot be used: it serves another chain, or lags behind. */
export type NodeProblem =
  | NodeFault
  | {
      readonly kind: 'unusable';
      readonly detail: string;
      /**
       * Of an inclusion that is recorded or claimed. `block`: the node shows that the block does not hold the transaction. `no-block`: it has
       * no such block, which it may be wrong in.
       */
      readonly deniesInclusion?: 'block' | 'no-block';
    };

/** What a node says is of no use. */
export function unusable(detail: string): { readonly ok: false; readonly refusal: NodeProblem } {
  return refused({ kind: 'unusable', detail });
}

export const NO_NODE: NodeProblem = { kind: 'unusable', detail: 'No RPC node is configured for this chain.' };

/** Returns how a node denies an inclusion; null for any other answer. */
export function denialOf(answer: Result<unknown, NodeProblem>): 'block' | 'no-block' | null {
  return !answer.ok && answer.refusal.kind === 'unusable' ? (answer.refusal.deniesInclusion ?? null) : null;
}

/** Runs an operation against one node. One that serves another chain gives no answer. */
export async function onNode<T>(
  pool: NodePool,
  node: RpcNode,
  operation: (node: RpcNode) => Promise<Result<T, NodeProblem>>,
): Promise<Result<T, NodeProblem>> {
  const problem = await pool.nodeProblem(node);
  return problem === null ? operation(node) : refused({ kind: 'no-answer', detail: problem.detail });
}

/** The same against every node at once, in order of preference: a node that is away takes its time to give no answer. */
export function onEveryNode<T>(
  pool: NodePool,
  operation: (node: RpcNode) => Promise<Result<T, NodeProblem>>,
): Promise<readonly Result<T, NodeProblem>[]> {
  return Promise.all(pool.nodes.map((node) => onNode(pool, node, operation)));
}

/** Of what several nodes count the most that two of them have reached; null where fewer than two count. */
export function reachedByTwo<T extends number | bigint>(counts: readonly T[]): T | null {
  return counts.toSorted((a, b) => (a < b ? 1 : -1))[1] ?? null;
}

/** A refusal that more questions to the same node cannot mend; one that is `busy` time will. */
export interface Conclusive {
  readonly kind: 'permanent' | 'busy';
}

/**
 * Runs an operation against the first node that can carry it out. A whole operation runs against ONE node, so that a receipt and
 * a head never come from two views of the chain; with trouble it runs again, from its beginning, against the next. A permanent
 * refusal ends a transaction, so it too counts only when no other node sees it otherwise: one that is hours behind finds every
 * wallet empty.
 *
 * Which chain it serves is asked each time: a URL that was changed to another network by mistake must never price, and so never lead
 * to, a signature.
 */
export async function onFirstUsableNode<T, R extends Conclusive>(
  pool: NodePool,
  operation: (node: RpcNode) => Promise<Result<T, R | NodeProblem>>,
): Promise<Result<T, R | NodeProblem>> {
  let nodeProblem: NodeProblem = NO_NODE;
  let ended: R | NodeProblem | null = null;
  for (const node of pool.nodes) {
    const problem = await pool.nodeProblem(node);
    if (problem !== null) {
      nodeProblem = problem;
      continue;
    }
    const result = await operation(node);
    if (result.ok) return result;
    const { refusal } = result;
    if (!isSettled(refusal)) nodeProblem = refusal;
    // A node for which time would do has seen what another one says is not there.
    else if (ended === null || refusal.kind === 'busy') ended = refusal;
  }
  return refused(ended ?? nodeProblem);
}

function isSettled<R extends Conclusive>(refusal: R | NodeProblem): refusal is R {
  return refusal.kind === 'permanent' || refusal.kind === 'busy';
}
