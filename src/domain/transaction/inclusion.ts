import { displayTypeOfCall } from '#domain/transaction/classification.ts';
import type { DisplayType, Inclusion, Transaction } from '#domain/transaction/transaction.ts';

/** What a call did is known when a block has it, and is not when that is gone. */
export function typeAfter({ intent, displayType }: Transaction, inclusion: Inclusion | null): DisplayType {
  return intent.kind === 'contract-interaction' ? displayTypeOfCall(inclusion?.changes ?? []) : displayType;
}

/** Reports whether a record says of an inclusion what is there already. */
export function isRecorded({ inclusion: before }: Transaction, inclusion: Inclusion): boolean {
  return (
    before !== null &&
    isSameInclusion(before, inclusion) &&
    before.confirmations === inclusion.confirmations &&
    hasSameProof(before, inclusion)
  );
}

/** Reports whether RPC nodes say as much of one inclusion as of another, but for its depth. */
export function hasSameProof(one: Inclusion, other: Inclusion): boolean {
  return (
    one.finalized === other.finalized &&
    one.secondNode === other.secondNode &&
    one.isFinalForOneNode === other.isFinalForOneNode
  );
}

/** Reports whether two inclusions are of one attempt in one block, with one result. */
export function isSameInclusion(one: Inclusion | null, other: Inclusion): boolean {
  return (
    one?.hash === other.hash &&
    one.blockHash === other.blockHash &&
    one.blockNumber === other.blockNumber &&
    one.succeeded === other.succeeded
  );
}
