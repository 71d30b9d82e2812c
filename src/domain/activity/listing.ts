import type { Activity } from '#domain/activity/activity.ts';
import { shown } from '#domain/activity/activity.ts';
import type { HiddenAsset, HiddenReason } from '#domain/activity/spam.ts';
import type { ListedToken } from '#domain/asset/chain.ts';
import { ONE_DOLLAR } from '#domain/asset/price.ts';
import type { Valuation } from '#domain/asset/valuation.ts';
import { marketValueOf } from '#domain/asset/valuation.ts';

/** The reasons that hold only for a token that no operator vouches for. */
const UNLISTED_REASONS: ReadonlySet<HiddenReason> = new Set(['FAKE_TOKEN', 'BAIT', 'MASS_TRANSFER', 'UNKNOWN_TOKEN']);

/**
 * Returns the record after an operator has listed tokens; returns the same object when none of them
 * was hidden for being unlisted. The token is shown without a value, because no source knew its
 * price at that time. A reason such as a low value stays.
 */
export function afterListing(activity: Activity, listed: readonly ListedToken[], nowMs: number): Activity {
  const tokens = new Map(listed.map((token) => [token.address, token]));
  const tokenOf = (tokenAddress: string | null) => (tokenAddress === null ? undefined : tokens.get(tokenAddress));
  const lifted = hiddenAssets(activity).filter(
    ({ tokenAddress, reason }) => UNLISTED_REASONS.has(reason) && tokenOf(tokenAddress) !== undefined,
  );
  const isLifted = new Set(lifted.map(({ tokenAddress }) => tokenAddress));
  const changes = activity.changes.map((change) => {
    const token = isLifted.has(change.tokenAddress) ? tokenOf(change.tokenAddress) : undefined;
    return token === undefined ? change : { ...change, isCash: token.isCash };
  });
  return withoutReason({ ...activity, changes }, { lifted, unchanged: activity, nowMs });
}

/**
 * Returns the record after a price by which an asset has a market value of a dollar or more,
 * although an earlier price hid it as low value; returns the same object when there is none. One
 * wrong answer of a price source must not hide a payment forever. Values between half a cent and a
 * dollar stay hidden, because prices vary.
 */
export function afterPricing(activity: Activity, valuation: Valuation, nowMs: number): Activity {
  const hasValue = (tokenAddress: string | null) => {
    const moved = activity.changes.filter((change) => change.tokenAddress === tokenAddress);
    const value = marketValueOf(moved, valuation);
    return moved.length > 0 && value.state === 'known' && value.usdE30 >= ONE_DOLLAR;
  };
  const lifted = hiddenAssets(activity).filter(
    ({ tokenAddress, reason }) => reason === 'LOW_VALUE' && hasValue(tokenAddress),
  );
  return withoutReason(activity, { lifted, unchanged: activity, nowMs });
}

interface Lift {
  /** The hidden assets that are shown from now on. */
  readonly lifted: readonly HiddenAsset[];
  /** The record that is returned when nothing is lifted. */
  readonly unchanged: Activity;
  readonly nowMs: number;
}

function withoutReason(activity: Activity, { lifted, unchanged, nowMs }: Lift): Activity {
  if (lifted.length === 0) return unchanged;
  const { movements, version } = activity;
  const isLifted = new Set(lifted.map(({ tokenAddress }) => tokenAddress));
  const rest = hiddenAssets(activity).filter(({ tokenAddress }) => !isLifted.has(tokenAddress));
  const more = movements.filter(({ tokenAddress }) => isLifted.has(tokenAddress)).length;
  const shownMovementCount = (activity.hiddenPart?.shownMovementCount ?? 0) + more;
  return shown({
    ...activity,
    suspicion: null,
    hiddenPart: rest.length === 0 ? null : { assets: rest, shownMovementCount, usdValue: null },
    version: version + 1,
    updatedAtMs: nowMs,
  });
}

/** Returns the hidden assets. One reason holds for each asset of a record of release 0.2.0. */
function hiddenAssets({ hiddenPart, suspicion, movements, changes }: Activity): readonly HiddenAsset[] {
  if (hiddenPart !== undefined) return hiddenPart?.assets ?? [];
  if (suspicion === null) return [];
  const moved = new Set([...changes, ...movements].map(({ tokenAddress }) => tokenAddress));
  return [...moved].map((tokenAddress) => ({ tokenAddress, reason: suspicion }));
}
