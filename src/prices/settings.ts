import * as z from 'zod';
import { parseJsonSetting } from '#domain/json-setting.ts';
import type { Price } from '#domain/asset/price.ts';
import { parseUsdPrice } from '#domain/asset/price.ts';
import type { FeedReader } from '#prices/chainlink.ts';
import { chainlink } from '#prices/chainlink.ts';
import { defillama } from '#prices/defillama.ts';
import type { PriceSource } from '#prices/price-source.ts';

const EVM_ASSET = /^eip155:[1-9][0-9]{0,19}(\/erc20:0x[0-9a-fA-F]{40})?$/;
const SOLANA_ASSET = /^solana:[1-9A-HJ-NP-Za-km-z]{32}(\/token:[1-9A-HJ-NP-Za-km-z]{32,44})?$/;

const BITCOIN_ASSET = /^bip122:[0-9a-f]{32}$/;

const isAsset = (name: string) => [EVM_ASSET, SOLANA_ASSET, BITCOIN_ASSET].some((shape) => shape.test(name));
const asset = z.string().refine(isAsset, 'is no asset');
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'is no address');

const settings = z.array(
  z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('static'),
      prices: z.record(
        asset,
        z.string().refine((text) => parseUsdPrice(text) !== null, 'is no price'),
      ),
    }),
    z.strictObject({
      type: z.literal('chainlink'),
      feeds: z.record(
        asset,
        z.strictObject({ feed: address, maxAgeSeconds: z.int().positive(), sequencer: address.optional() }),
      ),
    }),
    z.strictObject({ type: z.literal('defillama'), url: z.url({ protocol: /^https?$/ }) }),
  ]),
);

/**
 * Returns the price sources of the PRICE_SOURCES setting, in order; none when it is empty. Throws
 * for any other form: a service that treats a mistyped price as no price must not start.
 */
export function priceSources(setting: string | undefined, read: FeedReader): readonly PriceSource[] {
  if (setting === undefined || setting.trim() === '') return [];
  const parsed = settings.safeParse(parseJsonSetting('PRICE_SOURCES', setting));
  if (!parsed.success) throw new Error(`PRICE_SOURCES: ${z.prettifyError(parsed.error)}`);
  return parsed.data.map((source): PriceSource => {
    switch (source.type) {
      case 'static':
        return fixedPrices(source.prices);
      case 'chainlink':
        return chainlink(source.feeds, read);
      case 'defillama':
        return defillama(source.url.replace(/\/$/, ''));
    }
  });
}

/**
 * Returns a source of prices that the operator vouches for: a stablecoin, or a token without
 * another price.
 */
function fixedPrices(prices: Readonly<Record<string, string>>): PriceSource {
  return async (assets, nowMs) =>
    new Map(
      assets.flatMap((one): [string, Price][] => {
        const usdE12 = parseUsdPrice(prices[one] ?? '');
        return usdE12 === null ? [] : [[one, { state: 'known', usdE12, atMs: nowMs }]];
      }),
    );
}
