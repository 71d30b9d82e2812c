import { unitsOf } from '#domain/asset/amount.ts';
import type { BalanceChange } from '#domain/asset/movement.ts';
import { isCollectible, isFungible } from '#domain/asset/movement.ts';
import type { DisplayType } from '#domain/transaction/transaction.ts';

/**
 * Returns the display type of spec part 2 by the net changes of a wallet: labels of providers are
 * wrong too often. The fee does not count.
 */
export function displayTypeOf(changes: readonly BalanceChange[], isSigner: boolean): DisplayType {
  const came = changes.filter(({ units }) => unitsOf(units) > 0n);
  const went = changes.filter(({ units }) => unitsOf(units) < 0n);
  if (came.length === 0 && went.length === 0) return isSigner ? 'CONTRACT_INTERACTION' : 'UNKNOWN';
  // A stranger mints for others what they did not request.
  if (went.length === 0) return isSigner && came.every(({ isMinted }) => isMinted) ? 'MINTED' : 'RECEIVED';
  if (came.length === 0) return 'SENT';
  if (isSigner && came.every((change) => isCollectible(change) && change.isMinted)) return 'MINTED';
  if (went.every(isCash) && !came.every(isCash)) return came.every(isIssuedShare) ? 'TRADED' : 'BOUGHT';
  if (came.every(isCash) && !went.every(isCash)) return went.every(isRedeemedShare) ? 'TRADED' : 'SOLD';
  return 'TRADED';
}

/**
 * Returns the display type of a call of the vault itself. A payment of the native asset alone stays
 * a call: it is what any call can carry.
 */
export function displayTypeOfCall(changes: readonly BalanceChange[]): DisplayType {
  const type = displayTypeOf(changes, true);
  const isPaymentAlone = changes.every(({ kind, units }) => kind === 'native' || unitsOf(units) === 0n);
  return type === 'SENT' && isPaymentAlone ? 'CONTRACT_INTERACTION' : type;
}

/**
 * Reports whether a contract made the tokens for the payment, as a vault of ERC-4626 does with its
 * shares. That is a deposit of money, and no seller had the tokens before.
 */
function isIssuedShare(change: BalanceChange): boolean {
  return isFungible(change) && change.isMinted;
}

function isRedeemedShare(change: BalanceChange): boolean {
  return isFungible(change) && change.isBurned === true;
}

function isCash(change: BalanceChange): boolean {
  return change.isCash;
}
