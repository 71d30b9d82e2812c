import type { Activity } from '#domain/activity/activity.ts';
import { shown } from '#domain/activity/activity.ts';
import type { HiddenAsset, HiddenReason } from '#domain/activity/spam.ts';
import type { ListedToken } from '#domain/asset/chain.ts';

/** The reasons that hold only for a token that no operator vouches for. */
const UNLISTED_REASONS: ReadonlySet<HiddenReason> = new Set(['FAKE_TOKEN', 'BAIT', 'MASS_TRANSFER', 'UNKNOWN_TOKEN']);

/**
 * Returns the record after an operator has listed tokens; returns the same object when none of them
 * was hidden for being unlisted. The token is shown without a value, because no source knew its
 * price at that time. A reason such as a low value stays.
 */
export function afterListing(activity: Activity, listed: readonly ListedToken[], nowMs: number): Activity {
  const { movements, changes, version } = activity;
  const assets = hiddenAssets(activity);
  const lifted = new Map(
    assets.flatMap(({ tokenAddress, reason }) => {
      const token = UNLISTED_REASONS.has(reason) ? listed.find(({ address }) => address === tokenAddress) : undefined;
      return token === undefined ? [] : [[token.address, token] as const];
    }),
  );
  if (lifted.size === 0) return activity;
  const isLifted = (tokenAddress: string | null) => tokenAddress !== null && lifted.has(tokenAddress);
  const rest = assets.filter(({ tokenAddress }) => !isLifted(tokenAddress));
  const more = movements.filter(({ tokenAddress }) => isLifted(tokenAddress)).length;
  const shownMovementCount = (activity.hiddenPart?.shownMovementCount ?? 0) + more;
  return shown({
    ...activity,
    changes: changes.map((change) => {
      const token = change.tokenAddress === null ? undefined : lifted.get(change.tokenAddress);
      return token === undefined ? change : { ...change, isCash: token.isCash };
    }),
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
