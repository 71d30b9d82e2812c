import type { BusyFault, ChainFault, PreparationFault } from '#chains/chain-adapter.ts';
import type { Trouble } from '#chains/fleet.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import type { Result } from '#domain/result.ts';
import { refused } from '#domain/result.ts';

/** What every adapter makes of trouble with its nodes, when something was to be prepared. */
export function preparation<T>(result: Result<T, PermanentFault | BusyFault | Trouble>): Result<T, PreparationFault> {
  if (result.ok) return result;
  const { refusal } = result;
  if (refusal.kind === 'permanent' || refusal.kind === 'busy') return refused(refusal);
  return refused({ kind: 'transient', detail: refusal.detail });
}

/** The same when something was only looked at. */
export function looked<T>(result: Result<T, Trouble>): Result<T, ChainFault> {
  return result.ok ? result : refused({ detail: result.refusal.detail });
}
