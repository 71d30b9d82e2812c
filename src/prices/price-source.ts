import type { Price } from '#domain/asset/price.ts';

/**
 * An asset of a chain: `eip155:1` or `bip122:...` is its coin, `eip155:1/erc20:0x...` or `solana:.../token:...` a token in canonical spelling
 * (CAIP-19).
 */
export type AssetKey = string;

export function assetName(caip2: string, tokenAddress: string | null): AssetKey {
  if (tokenAddress === null) return caip2;
  return `${caip2}/${caip2.startsWith('solana:') ? 'token' : 'erc20'}:${tokenAddress}`;
}

/** The chain of an asset, and its token; null for its coin. */
export function addressOfAssetKey(asset: AssetKey): { readonly caip2: string; readonly tokenAddress: string | null } {
  const [caip2 = '', tokenAddress = null] = asset.split(/\/(?:erc20|token):/);
  return { caip2, tokenAddress };
}

/** Somebody who knows prices. What it does not answer for it does not know; null when it could not be asked at all. */
export type PriceSource = (assets: readonly AssetKey[], nowMs: number) => Promise<ReadonlyMap<AssetKey, Price> | null>;

/**
 * Asks the sources in order, each for what those before it did not know. Of what none knows, a source that could not be asked may still
 * know it.
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
      // Whatever may still become known is worth more than a plain no.
      if (price.state !== 'unknown') prices.set(asset, price);
    }
  }
  return prices;
}
