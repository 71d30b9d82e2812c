import { displayTypeOfCall } from '#domain/classification.ts';
import type { DisplayType, Inclusion, Transaction } from '#domain/transaction.ts';

/** What a call did is known when a block has it, and is not when that is gone. */
export function typeAfter({ intent, displayType }: Transaction, inclusion: Inclusion | null): DisplayType {
  return intent.kind === 'contract-interaction' ? displayTypeOfCall(inclusion?.changes ?? []) : displayType;
}

/** Reports whether a record says of an inclusion what is there already. */
export function isSameInclusion(transaction: Transaction, inclusion: Inclusion): boolean {
  const before = transaction.inclusion;
  return (
    before !== null &&
    before.hash === inclusion.hash &&
    before.blockHash === inclusion.blockHash &&
    before.confirmations === inclusion.confirmations &&
    before.finalized === inclusion.finalized
  );
}
