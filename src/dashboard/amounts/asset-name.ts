import { abbreviated } from '#dashboard/text.ts';

/**
 * Assets as people read them. The symbol of an unlisted token is a claim of its contract, so it
 * never stands alone: the contract and the claim are named with it.
 */

/** An asset as every response of the API has it. */
export interface Asset {
  readonly tokenAddress: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly trust: 'native' | 'policy' | 'listed' | 'unlisted';
  /** The symbol of a known asset that an unlisted token looks like. */
  readonly imitates: string | null;
}

/** Ours: symbols of real tokens have at most 11 characters. */
const MAX_CLAIM = 20;

/** Returns the name of an asset in one line. That of an unlisted token contains its contract. */
export function assetName(asset: Asset): string {
  const { tokenAddress, symbol, trust, imitates } = asset;
  if (tokenAddress === null || trust !== 'unlisted') return symbol ?? 'the native asset';
  const claim = symbol === null ? '' : `, calls itself “${claimText(symbol)}”`;
  return `unlisted token ${abbreviated(tokenAddress)}${claim}${imitates === null ? '' : `, imitates ${imitates}`}`;
}

/** Returns the name of an asset for a list of choices, with its chain and its contract. */
export function choiceName(asset: Asset, chain: string): string {
  const { tokenAddress, trust } = asset;
  const contract = tokenAddress === null || trust === 'unlisted' ? '' : `, contract ${abbreviated(tokenAddress)}`;
  return `${assetName(asset)} on ${chain}${contract}`;
}

/** Returns the claimed symbol of a token, at a length that a page can show. */
export function claimText(claim: string): string {
  const letters = [...claim];
  return letters.length <= MAX_CLAIM ? claim : `${letters.slice(0, MAX_CLAIM).join('')}…`;
}

/** Compares two assets, the more trusted source of a name first. */
export function byTrust(one: { readonly asset: Asset }, other: { readonly asset: Asset }): number {
  return rankOf(one.asset) - rankOf(other.asset);
}

const RANKS = { native: 0, policy: 1, listed: 2, unlisted: 3 } as const;

/** An imitation comes last. */
function rankOf({ trust, imitates }: Asset): number {
  return RANKS[trust] + (imitates === null ? 0 : 1);
}
