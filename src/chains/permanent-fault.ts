import type { PreparationFault } from '#chains/chain-adapter.ts';
import type { FailureReason } from '#domain/event.ts';

/** What ends a transaction before anything is signed. */
export type PermanentFault = Extract<PreparationFault, { kind: 'permanent' }>;

export function permanent(reason: FailureReason, detail: string | null = null): PermanentFault {
  return { kind: 'permanent', reason, detail };
}
