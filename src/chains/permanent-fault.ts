import type { PreparationFault } from '#chains/chain-client.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { FailureReason } from '#domain/transaction/event.ts';

/** A fault that ends a transaction before anything is signed. */
export type PermanentFault = Extract<PreparationFault, { kind: 'permanent' }>;

export function permanent(reason: FailureReason, detail: string | null = null): PermanentFault {
  return { kind: 'permanent', reason, detail };
}

/**
 * Returns INSUFFICIENT_FUNDS with the shortfall.
 *
 * @param tokenAddress null for the native asset
 */
export function shortOf(tokenAddress: string | null, units: bigint, detail: string): PermanentFault {
  return { ...permanent('INSUFFICIENT_FUNDS', detail), missing: { tokenAddress, amount: amountOf(units) } };
}
