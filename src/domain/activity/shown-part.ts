import { unitsOf } from '#domain/asset/amount.ts';
import type { UsdValue } from '#domain/asset/valuation.ts';
import type { BalanceChange, ChainMovement, WalletMovements } from '#domain/asset/movement.ts';
import type { HiddenAsset, HiddenReason } from '#domain/activity/spam.ts';
import { displayTypeOf } from '#domain/transaction/classification.ts';
import type { DisplayType } from '#domain/transaction/transaction.ts';

/** The assets of a record that a rule hides. */
export interface HiddenPart {
  readonly assets: readonly HiddenAsset[];
  /** The number of movements of the other assets. */
  readonly shownMovementCount: number;
  /** The market value of the other assets; null when a price is unknown. */
  readonly usdValue: UsdValue | null;
}

/** A record of another signer's transaction, as far as it decides what is shown. */
export interface JudgedRecord extends WalletMovements {
  readonly signer: string | null;
  readonly wallet: string;
  readonly visible: boolean;
  readonly visibilityChoice: boolean | null;
  readonly hiddenPart?: HiddenPart | null;
  /** The rules are applied once more, when the price sources answer. */
  readonly appraisalPending: boolean;
  readonly usdValue: UsdValue | null;
  readonly displayType: DisplayType;
  readonly direction: 'in' | 'out';
}

/** What people and programs read of a record by default. */
interface ShownPart {
  readonly movements: readonly ChainMovement[];
  readonly movementCount: number;
  readonly changes: readonly BalanceChange[];
  readonly usdValue: UsdValue | null;
  readonly displayType: DisplayType;
  readonly direction: 'in' | 'out';
  /** The changes that a visible record does not show, each with its reason. */
  readonly hiddenChanges: readonly (BalanceChange & { readonly reason: HiddenReason })[];
}

/**
 * Returns what a record shows. A visible record shows the assets that no rule hides. A record that
 * is hidden as a whole, or that a member chose to show, has all of its assets.
 */
export function shownPart(record: JudgedRecord): ShownPart {
  const { hiddenPart, movements, movementCount, changes, usdValue, displayType, direction, signer, wallet } = record;
  if (hiddenPart === undefined) {
    return { movements, movementCount, changes, usdValue, displayType, direction, hiddenChanges: [] };
  }
  const isSigner = signer === wallet;
  const reasons = hiddenReasons(record);
  const isShown = ({ tokenAddress }: { readonly tokenAddress: string | null }) => !reasons.has(tokenAddress);
  const rest = changes.filter(isShown);
  const isPart = hiddenPart !== null && reasons.size > 0;
  return {
    movements: movements.filter(isShown),
    movementCount: isPart ? hiddenPart.shownMovementCount : movementCount,
    changes: rest,
    usdValue: isPart ? hiddenPart.usdValue : usdValue,
    displayType: displayTypeOf(rest, isSigner),
    direction: directionOf(rest, isSigner),
    hiddenChanges: changes.flatMap((change) => {
      const reason = reasons.get(change.tokenAddress);
      return reason === undefined ? [] : [{ ...change, reason }];
    }),
  };
}

/**
 * Reports whether the amounts of an asset in the record belong to the default balances: the record
 * shows it, and will not hide it when the price sources answer. A balance stays listed, and a
 * stranger can send tokens while the sources are unreachable.
 */
export function showsAsset(record: JudgedRecord, { tokenAddress }: { readonly tokenAddress: string | null }): boolean {
  const { visible, visibilityChoice, appraisalPending, signer, wallet } = record;
  const isJudged = tokenAddress === null || !appraisalPending || visibilityChoice === true || signer === wallet;
  return visible && isJudged && !hiddenReasons(record).has(tokenAddress);
}

/** Returns the assets that a visible record does not show. */
function hiddenReasons({
  visible,
  visibilityChoice,
  hiddenPart,
}: JudgedRecord): ReadonlyMap<string | null, HiddenReason> {
  const assets = visible && visibilityChoice !== true ? (hiddenPart?.assets ?? []) : [];
  return new Map(assets.map(({ tokenAddress, reason }) => [tokenAddress, reason]));
}

export function directionOf(changes: readonly BalanceChange[], isSigner: boolean): 'in' | 'out' {
  const units = changes.map((change) => unitsOf(change.units));
  const [came, went] = [units.some((one) => one > 0n), units.some((one) => one < 0n)];
  return went || (isSigner && !came) ? 'out' : 'in';
}
