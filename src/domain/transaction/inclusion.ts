import { changedAssets } from '#domain/asset/movement.ts';
import { displayTypeOfCall } from '#domain/transaction/classification.ts';
import type { DisplayType, Inclusion, Transaction } from '#domain/transaction/transaction.ts';

/**
 * The `stateReason` of a SUCCEEDED token payment whose token logged no transfer, and whose balances
 * prove nothing. A person checks it.
 */
export const TRANSFER_NOT_LOGGED = 'TRANSFER_NOT_LOGGED';

/**
 * The `stateReason` of a transaction that ended in a final block which the chain no longer has. A
 * person decides what follows: its bytes may be included again.
 */
export const FINAL_BLOCK_GONE = 'FINAL_BLOCK_GONE';

/** The `stateReason` of a record whose final contents were false, and have been replaced. */
export const CONTENTS_CORRECTED = 'CONTENTS_CORRECTED';

/**
 * Returns the display type after an inclusion. The effect of a call is known when a block includes
 * it, and unknown again when the block is removed.
 */
export function typeAfter({ intent, displayType }: Transaction, inclusion: Inclusion | null): DisplayType {
  return intent.kind === 'contract-interaction' ? displayTypeOfCall(inclusion?.changes ?? []) : displayType;
}

/** Reports whether the record already has exactly this inclusion. */
export function isRecorded({ inclusion: before }: Transaction, inclusion: Inclusion): boolean {
  return (
    before !== null &&
    isSameInclusion(before, inclusion) &&
    before.confirmations === inclusion.confirmations &&
    hasSameProof(before, inclusion)
  );
}

/** Reports whether RPC nodes prove two inclusions alike, apart from their depth. */
export function hasSameProof(one: Inclusion, other: Inclusion): boolean {
  return (
    one.finalized === other.finalized &&
    one.secondNode === other.secondNode &&
    one.tokenTransfer === other.tokenTransfer &&
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

/** Reports whether two inclusions have the same fee and change the same amounts. */
export function hasSameContents(one: Inclusion, other: Inclusion): boolean {
  return one.feePaid === other.feePaid && changedAssets(one, other).size === 0 && changedAssets(other, one).size === 0;
}
