import { displayTypeOfCall } from '#domain/transaction/classification.ts';
import type { DisplayType, Inclusion, Transaction } from '#domain/transaction/transaction.ts';

/** What a call did is known when a block has it, and is not when that is gone. */
export function typeAfter({ intent, displayType }: Transaction, inclusion: Inclusion | null): DisplayType {
  return intent.kind === 'contract-interaction' ? displayTypeOfCall(inclusion?.changes ?? []) : displayType;
}

/** Reports whether a record says of an inclusion what is there already. */
export function isSameInclusion({ inclusion: before }: Transaction, inclusion: Inclusion): boolean {
  return (
    before !== null &&
    isSameBlock(before, inclusion) &&
    before.confirmations === inclusion.confirmations &&
    before.finalized === inclusion.finalized &&
    before.secondNode === inclusion.secondNode &&
    inclusion.secondNode !== 'away'
  );
}

/** Reports whether two inclusions are of one attempt in one block. */
export function isSameBlock(one: Inclusion | null, other: Inclusion): boolean {
  return one?.hash === other.hash && one.blockHash === other.blockHash;
}
