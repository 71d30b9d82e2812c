import type { Price } from '#domain/asset/price.ts';

/**
 * An asset of a chain: `eip155:1` or `bip122:...` is its native asset, `eip155:1/erc20:0x...` or
 * `solana:.../token:...` a token in canonical spelling (CAIP-19).
 */
export type AssetKey = string;

export function assetName(caip2: string, tokenAddress: string | null): AssetKey {
  if (tokenAddress === null) return caip2;
  return `${caip2}/${caip2.startsWith('solana:') ? 'token' : 'erc20'}:${tokenAddress}`;
}

/** Returns the chain of an asset, and its token; null for the native asset. */
export function addressOfAssetKey(asset: AssetKey): { readonly caip2: string; readonly tokenAddress: string | null } {
  const [caip2 = '', tokenAddress = null] = asset.split(/\/(?:erc20|token):/);
  return { caip2, tokenAddress };
}

/**
 * A price source. It returns null when it was unavailable, and an asset without an entry has no
 * price there.
 */
export type PriceSource = (assets: readonly AssetKey[], nowMs: number) => Promise<ReadonlyMap<AssetKey, Price> | null>;

/**
 * Returns the prices of assets. It calls the sources in order, each for the assets without a price
 * so far. When none has a price, an unavailable source may still have one.
 */
export async function pricesOf(
  sources: readonly PriceSource[],
  assets: readonly AssetKey[],
  nowMs: number,
): Promise<ReadonlyMap<AssetKey, Price>> {
  const prices = new Map<AssetKey, Price>();
  const nothing: Price = { state: sources.length === 0 ? 'unpriced' : 'unknown' };
  for (const asset of assets) prices.set(asset, nothing);
  for (const source of sources) {
    const open = assets.filter((asset) => prices.get(asset)?.state !== 'known');
    if (open.length === 0) break;
    const response = await source(open, nowMs);
    for (const asset of open) {
      const price: Price = response === null ? { state: 'unavailable' } : (response.get(asset) ?? { state: 'unknown' });
      // A price that may still become known takes precedence over an unknown one.
      if (price.state !== 'unknown') prices.set(asset, price);
    }
  }
  return prices;
}
