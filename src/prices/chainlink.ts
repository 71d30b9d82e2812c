import type { FeedRound, Price } from '#domain/asset/price.ts';
import type { AssetKey, PriceSource } from '#prices/price-source.ts';
import { addressOfAssetKey } from '#prices/price-source.ts';

/** Reads a feed on the chain of this CAIP-2; null when it cannot be read. */
export type FeedReader = (caip2: string, feed: string) => Promise<FeedRound | null>;

export interface Feed {
  readonly feed: string;
  /** Its heartbeat plus a margin. An older answer is ignored. */
  readonly maxAgeSeconds: number;
  /**
   * For a rollup, the feed that reports whether its sequencer runs: while it does not, prices stand
   * still.
   */
  readonly sequencer?: string | undefined;
}

/** After a sequencer outage, prices are not used until all parties could act on the new ones. */
const GRACE_SECONDS = 3600n;
const PRICE_SCALE = 10n ** 12n;

/**
 * Returns a source of Chainlink's feeds, on the chain of the asset itself. A price that a feed does
 * not have now may be available later.
 */
export function chainlink(feeds: Readonly<Record<AssetKey, Feed>>, read: FeedReader): PriceSource {
  return async (assets, nowMs) => {
    const prices = new Map<AssetKey, Price>();
    for (const asset of assets) {
      const feed = feeds[asset];
      if (feed !== undefined)
        prices.set(asset, await priceBy(feed, { caip2: addressOfAssetKey(asset).caip2, read, nowMs }));
    }
    return prices;
  };
}

interface FeedRequest {
  readonly caip2: string;
  readonly read: FeedReader;
  readonly nowMs: number;
}

async function priceBy({ feed, maxAgeSeconds, sequencer }: Feed, { caip2, read, nowMs }: FeedRequest): Promise<Price> {
  const now = BigInt(Math.floor(nowMs / 1000));
  const unavailable = { state: 'unavailable' } as const;
  if (sequencer !== undefined) {
    const round = await read(caip2, sequencer);
    if (round === null || !isRunning(round, now)) return unavailable;
  }
  const round = await read(caip2, feed);
  if (round === null || !round.isOfItsRound || round.answer <= 0n) return unavailable;
  if (now - round.updatedAt > BigInt(maxAgeSeconds)) return unavailable;
  const usdE12 = ((round.answer * PRICE_SCALE) / 10n ** round.decimals).toString();
  return { state: 'known', usdE12, atMs: Number.parseInt(round.updatedAt.toString(), 10) * 1000 };
}

/**
 * Reports whether a sequencer runs and did so through the grace period. An answer of 0 means that
 * it runs. A feed without a round yet has zeros everywhere, which say nothing: Chainlink's page on
 * L2 sequencer uptime feeds requires a check of `startedAt` for 0.
 */
function isRunning({ answer, startedAt }: FeedRound, now: bigint): boolean {
  return answer === 0n && startedAt !== 0n && now - startedAt >= GRACE_SECONDS;
}
