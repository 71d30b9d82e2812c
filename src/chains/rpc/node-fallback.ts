import type { BusyFault, ChainFault, PreparationFault } from '#chains/chain-adapter.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { onFirstUsableNode } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { PermanentFault } from '#chains/inspect/permanent-fault.ts';
import type { Result } from '#domain/result.ts';
import { refused } from '#domain/result.ts';

/** What every adapter makes of trouble with its nodes, when something is to be prepared. */
export async function prepareFromPool<T>(
  pool: NodePool,
  read: (node: RpcNode) => Promise<Result<T, PermanentFault | BusyFault | NodeProblem>>,
): Promise<Result<T, PreparationFault>> {
  const result = await onFirstUsableNode(pool, read);
  if (result.ok) return result;
  const { refusal } = result;
  if (refusal.kind === 'permanent' || refusal.kind === 'busy') return refused(refusal);
  return refused({ kind: 'transient', detail: refusal.detail });
}

/** The same when something is only looked at. */
export async function readFromPool<T>(
  pool: NodePool,
  read: (node: RpcNode) => Promise<Result<T, NodeProblem>>,
): Promise<Result<T, ChainFault>> {
  return asChainFault(await onFirstUsableNode<T, never>(pool, read));
}

export function asChainFault<T>(result: Result<T, NodeProblem>): Result<T, ChainFault> {
  return result.ok ? result : refused({ detail: result.refusal.detail });
}
