import type { BusyFault, ChainFault, PreparationFault } from '#chains/chain-adapter.ts';
import type { Fleet, Trouble } from '#chains/fleet.ts';
import { onFirstFitNode } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import type { Result } from '#domain/result.ts';
import { refused } from '#domain/result.ts';

/** What every adapter makes of trouble with its nodes, when something is to be prepared. */
export async function prepare<T>(
  fleet: Fleet,
  ask: (node: RpcNode) => Promise<Result<T, PermanentFault | BusyFault | Trouble>>,
): Promise<Result<T, PreparationFault>> {
  const result = await onFirstFitNode(fleet, ask);
  if (result.ok) return result;
  const { refusal } = result;
  if (refusal.kind === 'permanent' || refusal.kind === 'busy') return refused(refusal);
  return refused({ kind: 'transient', detail: refusal.detail });
}

/** The same when something is only looked at. */
export async function look<T>(
  fleet: Fleet,
  ask: (node: RpcNode) => Promise<Result<T, Trouble>>,
): Promise<Result<T, ChainFault>> {
  return looked(await onFirstFitNode<T, never>(fleet, ask));
}

export function looked<T>(result: Result<T, Trouble>): Result<T, ChainFault> {
  return result.ok ? result : refused({ detail: result.refusal.detail });
}
