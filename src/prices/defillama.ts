import * as z from 'zod';
import { BITCOIN_MAINNET_GENESIS } from '#domain/asset/chain.ts';
import type { Price } from '#domain/asset/price.ts';
import { parseUsdPrice } from '#domain/asset/price.ts';
import type { AssetKey, PriceSource } from '#prices/price-source.ts';
import { addressOfAssetKey } from '#prices/price-source.ts';

/** The source's names of the chains and of their native assets. */
const CHAINS: Readonly<Record<string, { readonly slug: string; readonly coin: string }>> = {
  'eip155:1': { slug: 'ethereum', coin: 'coingecko:ethereum' },
  'eip155:8453': { slug: 'base', coin: 'coingecko:ethereum' },
  'eip155:42161': { slug: 'arbitrum', coin: 'coingecko:ethereum' },
  'eip155:10': { slug: 'optimism', coin: 'coingecko:ethereum' },
  'eip155:137': { slug: 'polygon', coin: 'coingecko:polygon-ecosystem-token' },
  'eip155:56': { slug: 'bsc', coin: 'coingecko:binancecoin' },
  'eip155:43114': { slug: 'avax', coin: 'coingecko:avalanche-2' },
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': { slug: 'solana', coin: 'coingecko:solana' },
  [`bip122:${BITCOIN_MAINNET_GENESIS}`]: { slug: 'bitcoin', coin: 'coingecko:bitcoin' },
};

/** Below this confidence the source itself is unsure. */
const MIN_CONFIDENCE = 0.9;
const OLDEST_SECONDS = 60 * 60;
const TIMEOUT_MS = 5_000;
const MAX_RESPONSE_BYTES = 1_000_000;

const answerSchema = z.object({
  coins: z.record(
    z.string(),
    z.object({ price: z.number().positive(), timestamp: z.number(), confidence: z.number().optional() }),
  ),
});

/**
 * Returns a source in the format of DefiLlama, `GET {url}/prices/current/{ids}`: many assets in one
 * request, without a key.
 */
export function defillama(url: string): PriceSource {
  return async (assets, nowMs) => {
    const ids = new Map(assets.flatMap((asset) => idOf(asset).map((id) => [asset, id] as const)));
    if (ids.size === 0) return new Map();
    const coins = await fetchPrices(`${url}/prices/current/${[...new Set(ids.values())].join(',')}`);
    if (coins === null) return null;
    const prices = [...ids].flatMap(([asset, id]): [AssetKey, Price][] => {
      const coin = coins[id];
      if (coin === undefined || (coin.confidence ?? 0) < MIN_CONFIDENCE) return [];
      const usdE12 = parseUsdPrice(String(coin.price));
      const isFresh = nowMs / 1000 - coin.timestamp <= OLDEST_SECONDS;
      return usdE12 === null || !isFresh ? [] : [[asset, { state: 'known', usdE12, atMs: coin.timestamp * 1000 }]];
    });
    return new Map(prices);
  };
}

function idOf(asset: AssetKey): readonly string[] {
  const { caip2, tokenAddress } = addressOfAssetKey(asset);
  const chain = CHAINS[caip2];
  if (chain === undefined) return [];
  return [tokenAddress === null ? chain.coin : `${chain.slug}:${tokenAddress}`];
}

/** Returns the prices, or null for a source that is unavailable or sends an invalid answer. */
async function fetchPrices(url: string): Promise<z.infer<typeof answerSchema>['coins'] | null> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = response.status === 200 ? await response.text() : '';
    if (text === '' || text.length > MAX_RESPONSE_BYTES) return null;
    const answer = answerSchema.safeParse(JSON.parse(text));
    return answer.success ? answer.data.coins : null;
  } catch {
    return null;
  }
}
