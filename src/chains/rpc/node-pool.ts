import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { refused } from '#domain/result.ts';

/** The operator's RPC nodes of one chain, in order of preference. */
export interface NodePool {
  readonly nodes: readonly RpcNode[];
  /** Returns null when the RPC node serves the pool's chain. */
  readonly nodeProblem: (node: RpcNode) => Promise<NodeProblem | null>;
}

/**
 * `unusable`: the RPC node answers, but its answer cannot be used: it serves another chain, or lags
 * behind.
 */
export type NodeProblem =
  | NodeFault
  | {
      readonly kind: 'unusable';
      readonly detail: string;
      /**
       * Set for an inclusion that is recorded or claimed. `block`: the RPC node shows that the
       * block does not hold the transaction. `no-block`: it has no such block, which may be its own
       * fault.
       */
      readonly deniesInclusion?: 'block' | 'no-block';
      /**
       * The RPC node has the transaction, and its form cannot be read: a later call fails alike.
       */
      readonly isUnread?: true;
      /** The RPC node states an inclusion, and does not show what it must have then. */
      readonly statesInclusion?: true;
      /** The chain that the RPC node serves, where it is not that of the pool. */
      readonly serves?: string;
    };

/** Returns the refusal of an answer that cannot be used. */
export function unusable(detail: string): { readonly ok: false; readonly refusal: NodeProblem } {
  return refused({ kind: 'unusable', detail });
}

/** Returns the refusal of a transaction that the RPC node has in a form that cannot be read. */
export function unread(detail: string): { readonly ok: false; readonly refusal: NodeProblem } {
  return refused({ kind: 'unusable', detail, isUnread: true });
}

/** Returns the refusal of an inclusion that an RPC node states and does not show. */
export function unshown(detail: string): { readonly ok: false; readonly refusal: NodeProblem } {
  return refused({ kind: 'unusable', detail, statesInclusion: true });
}

export const NO_NODE: NodeProblem = { kind: 'unusable', detail: 'No RPC node is configured for this chain.' };

/** Returns how an RPC node denies an inclusion; null for any other answer. */
export function denialOf(answer: Result<unknown, NodeProblem>): 'block' | 'no-block' | null {
  return !answer.ok && answer.refusal.kind === 'unusable' ? (answer.refusal.deniesInclusion ?? null) : null;
}

/** Reports whether an RPC node states an inclusion that it does not show. */
export function isUnshown(answer: Result<unknown, NodeProblem>): boolean {
  return !answer.ok && answer.refusal.kind === 'unusable' && answer.refusal.statesInclusion === true;
}

/** Reports whether an RPC node has a transaction in a form that cannot be read. */
export function isUnread(problem: NodeProblem): boolean {
  return problem.kind === 'unusable' && problem.isUnread === true;
}

/** Runs an operation on one RPC node. A node that serves another chain counts as no answer. */
export async function onNode<T>(
  pool: NodePool,
  node: RpcNode,
  operation: (node: RpcNode) => Promise<Result<T, NodeProblem>>,
): Promise<Result<T, NodeProblem>> {
  const problem = await pool.nodeProblem(node);
  return problem === null ? operation(node) : refused({ kind: 'no-answer', detail: problem.detail });
}

/**
 * Runs an operation on every RPC node at once, in order of preference: an unreachable node takes
 * its whole time-out.
 */
export function onEveryNode<T>(
  pool: NodePool,
  operation: (node: RpcNode) => Promise<Result<T, NodeProblem>>,
): Promise<readonly Result<T, NodeProblem>[]> {
  return Promise.all(pool.nodes.map((node) => onNode(pool, node, operation)));
}

/** Returns the other RPC nodes of a pool that serve its chain. */
export async function otherNodes(pool: NodePool, node: RpcNode): Promise<readonly RpcNode[]> {
  const rest = pool.nodes.filter((one) => one !== node);
  const problems = await Promise.all(rest.map((one) => pool.nodeProblem(one)));
  return rest.filter((_, i) => problems[i] === null);
}

/** Returns the highest count that two RPC nodes have reached; null with fewer than two counts. */
export function reachedByTwo<T extends number | bigint>(counts: readonly T[]): T | null {
  return counts.toSorted((a, b) => (a < b ? 1 : -1))[1] ?? null;
}

/**
 * A refusal that further calls to the same RPC node cannot change. A `busy` one changes with time.
 */
export interface Conclusive {
  readonly kind: 'permanent' | 'busy';
}

/**
 * Runs an operation on the first RPC node that can execute it. A whole operation runs on ONE node,
 * so that a receipt and a head never come from two views of the chain; after a node problem it
 * starts again on the next. A permanent refusal ends a transaction, so it counts only when no other
 * node contradicts it: a node that is hours behind finds every wallet empty.
 *
 * The chain of the node is checked each time: a URL that was changed to another network by mistake
 * must never price, and so never lead to, a signature.
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
    // An RPC node with `busy` has the funds that another one reports as missing.
    else if (ended === null || refusal.kind === 'busy') ended = refusal;
  }
  return refused(ended ?? nodeProblem);
}

function isSettled<R extends Conclusive>(refusal: R | NodeProblem): refusal is R {
  return refusal.kind === 'permanent' || refusal.kind === 'busy';
}
