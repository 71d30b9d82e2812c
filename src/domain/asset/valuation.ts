import { unitsOf } from '#domain/asset/amount.ts';
import type { BalanceChange } from '#domain/asset/movement.ts';
import { isCollectible } from '#domain/asset/movement.ts';
import type { Price } from '#domain/asset/price.ts';
import { usdText, usdValueAtPrice } from '#domain/asset/price.ts';

/** The symbol and decimals that a token reports itself: untrusted text. */
export interface TokenLabel {
  readonly address: string;
  readonly symbol: string | null;
  readonly decimals: number | null;
}

/** The data about a token at the time when a transaction that moved it is recorded. */
export interface TokenProfile extends TokenLabel {
  readonly price: Price;
  /** The operator vouches for it. */
  readonly isListed: boolean;
  /** The symbol of the listed token or native asset that it imitates. */
  readonly imitates: string | null;
  /** Its name or symbol requests an action: a web address, `claim`, `visit`. */
  readonly hasPhishingText: boolean;
}

/** The valuation of everything that a transaction moved. */
export interface Valuation {
  readonly native: { readonly price: Price; readonly decimals: number };
  readonly tokens: readonly TokenProfile[];
}

/**
 * The total market value of some changes. Of several unknown prices, one that may still become
 * known takes precedence.
 */
export type MarketValue =
  | { readonly state: 'known'; readonly usdE30: bigint; readonly atMs: number }
  | { readonly state: 'unknown' | 'unavailable' | 'unpriced' };

export function tokenProfile({ tokens }: Valuation, tokenAddress: string): TokenProfile | null {
  return tokens.find(({ address }) => address === tokenAddress) ?? null;
}

function tokenProfiles(changes: readonly BalanceChange[], { tokens }: Valuation): readonly TokenProfile[] {
  return tokens.filter(({ address }) => changes.some(({ tokenAddress }) => tokenAddress === address));
}

export function labelsOf(changes: readonly BalanceChange[], valuation: Valuation): readonly TokenLabel[] {
  return tokenProfiles(changes, valuation).map(({ address, symbol, decimals }) => ({ address, symbol, decimals }));
}

/**
 * Returns the market value without a sign: received and sent units count alike. Collectibles have
 * no price.
 */
export function marketValueOf(changes: readonly BalanceChange[], valuation: Valuation): MarketValue {
  const parts = changes.map((change) => marketValueOfOne(change, valuation));
  for (const state of ['unavailable', 'unpriced', 'unknown'] as const) {
    if (parts.some((part) => part.state === state)) return { state };
  }
  const known = parts.filter((part) => part.state === 'known');
  return {
    state: 'known',
    usdE30: known.reduce((sum, { usdE30 }) => sum + usdE30, 0n),
    atMs: Math.min(...known.map(({ atMs }) => atMs)),
  };
}

const UNPRICED: Price = { state: 'unpriced' };
const UNKNOWN: Price = { state: 'unknown' };

function marketValueOfOne({ kind, tokenAddress, units }: BalanceChange, valuation: Valuation): MarketValue {
  if (isCollectible({ kind })) return { state: 'unknown' };
  // A deployment without sources has no price for the native asset either.
  const nothing = { price: valuation.native.price.state === 'unpriced' ? UNPRICED : UNKNOWN, decimals: null };
  const { price, decimals } =
    tokenAddress === null ? valuation.native : (tokenProfile(valuation, tokenAddress) ?? nothing);
  if (price.state !== 'known') return price;
  if (decimals === null) return { state: 'unknown' };
  return { state: 'known', usdE30: usdValueAtPrice(unitsOf(units), decimals, price.usdE12), atMs: price.atMs };
}

/** The recorded market value, by the prices at the first observation. */
export interface UsdValue {
  readonly usd: string;
  readonly pricedAtMs: number;
}

/**
 * Returns the value of the received assets, or of the sent ones when nothing was received. Returns
 * null when a price is unknown or nothing moved.
 */
export function usdValueOf(changes: readonly BalanceChange[], valuation: Valuation): UsdValue | null {
  const came = changes.filter(({ units }) => unitsOf(units) > 0n);
  const moved = came.length > 0 ? came : changes.filter(({ units }) => unitsOf(units) < 0n);
  const value = moved.length === 0 ? null : marketValueOf(moved, valuation);
  return value?.state === 'known' ? { usd: usdText(value.usdE30), pricedAtMs: value.atMs } : null;
}
