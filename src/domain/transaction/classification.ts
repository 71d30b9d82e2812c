import { unitsOf } from '#domain/asset/amount.ts';
import type { BalanceChange } from '#domain/activity/movement.ts';
import { isCollectible } from '#domain/activity/movement.ts';
import type { DisplayType } from '#domain/transaction/transaction.ts';

/**
 * Returns the display type of spec part 2 by the net changes of a wallet: labels of providers are
 * wrong too often. The fee does not count.
 */
export function displayTypeOf(changes: readonly BalanceChange[], isSigner: boolean): DisplayType {
  const came = changes.filter(({ units }) => unitsOf(units) > 0n);
  const went = changes.filter(({ units }) => unitsOf(units) < 0n);
  if (came.length === 0 && went.length === 0) return isSigner ? 'CONTRACT_INTERACTION' : 'UNKNOWN';
  if (went.length === 0) {
    const isMint = came.every(({ isMinted }) => isMinted) && (isSigner || came.every(isCollectible));
    return isMint ? 'MINTED' : 'RECEIVED';
  }
  if (came.length === 0) return 'SENT';
  if (came.every((change) => isCollectible(change) && change.isMinted)) return 'MINTED';
  if (went.every(isCash) && !came.every(isCash)) return 'BOUGHT';
  return came.every(isCash) && !went.every(isCash) ? 'SOLD' : 'TRADED';
}

/** Returns the display type of a call of the vault itself. A payment to a contract stays a call. */
export function displayTypeOfCall(changes: readonly BalanceChange[]): DisplayType {
  const type = displayTypeOf(changes, true);
  return type === 'SENT' || type === 'RECEIVED' ? 'CONTRACT_INTERACTION' : type;
}

function isCash(change: BalanceChange): boolean {
  return change.isCash;
}
