import * as z from 'zod';
import { parseJsonSetting } from '#domain/json/json-setting.ts';
import type { Price } from '#domain/asset/price.ts';
import { parseUsdPrice } from '#domain/asset/price.ts';
import type { Feed, FeedReader } from '#prices/chainlink.ts';
import { chainlink } from '#prices/chainlink.ts';
import { defillama } from '#prices/defillama.ts';
import type { AssetKey, PriceSource } from '#prices/price-source.ts';
import { addressOfAssetKey, assetName } from '#prices/price-source.ts';

/**
 * Returns the parser of a chain's contracts; null for a chain that the service does not know. The
 * parser returns the chain's own spelling, and null for a text that is no address of a contract.
 */
type ContractsOf = (caip2: string) => ((text: string) => string | null) | null;

const EVM_ASSET = /^eip155:[1-9][0-9]{0,19}(\/erc20:0x[0-9a-fA-F]{40})?$/;
const SOLANA_ASSET = /^solana:[1-9A-HJ-NP-Za-km-z]{32}(\/token:[1-9A-HJ-NP-Za-km-z]{32,44})?$/;

const BITCOIN_ASSET = /^bip122:[0-9a-f]{32}$/;

const isAsset = (name: string) => [EVM_ASSET, SOLANA_ASSET, BITCOIN_ASSET].some((shape) => shape.test(name));
const assetText = z.string().refine(isAsset, 'is no asset');
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'is no address');

const settings = z.array(
  z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('static'),
      prices: z.record(
        assetText,
        z.string().refine((text) => parseUsdPrice(text) !== null, 'is no price'),
      ),
    }),
    z.strictObject({
      type: z.literal('chainlink'),
      feeds: z.record(
        assetText,
        z.strictObject({ feed: address, maxAgeSeconds: z.int().positive(), sequencer: address.optional() }),
      ),
    }),
    z.strictObject({ type: z.literal('defillama'), url: z.url({ protocol: /^https?$/ }) }),
  ]),
);

interface PriceReaders {
  readonly read: FeedReader;
  readonly contractsOf: ContractsOf;
}

/**
 * Returns the price sources of the PRICE_SOURCES setting, in order; none when it is empty. An
 * address of an asset or a feed may have any spelling that its chain accepts. Throws for any other
 * form: a service that treats a mistyped price as no price must not start.
 */
export function priceSources(setting: string | undefined, { read, contractsOf }: PriceReaders): readonly PriceSource[] {
  if (setting === undefined || setting.trim() === '') return [];
  const parsed = settings.safeParse(parseJsonSetting('PRICE_SOURCES', setting));
  if (!parsed.success) throw new Error(`PRICE_SOURCES is not valid: ${z.prettifyError(parsed.error)}`);
  return parsed.data.map((source): PriceSource => {
    switch (source.type) {
      case 'static':
        return fixedPrices(byAsset(source.prices, contractsOf));
      case 'chainlink':
        return chainlink(canonicalFeeds(byAsset(source.feeds, contractsOf), contractsOf), read);
      case 'defillama':
        return defillama(source.url.replace(/\/$/, ''));
    }
  });
}

/**
 * Returns the entries under the one spelling by which a price is looked up. An entry under another
 * spelling would never be used.
 */
function byAsset<T>(entries: Readonly<Record<string, T>>, contractsOf: ContractsOf): Readonly<Record<AssetKey, T>> {
  const canonical = new Map<AssetKey, T>();
  for (const [written, entry] of Object.entries(entries)) {
    const { caip2, tokenAddress } = addressOfAssetKey(written);
    if (contractsOf(caip2) === null) throw new Error(`PRICE_SOURCES: ${written}: the chain is unknown`);
    const asset = assetName(caip2, tokenAddress === null ? null : contractIn(tokenAddress, caip2, contractsOf));
    if (canonical.has(asset)) throw new Error(`PRICE_SOURCES: ${written}: the asset has more than one entry`);
    canonical.set(asset, entry);
  }
  return Object.fromEntries(canonical);
}

function canonicalFeeds(
  feeds: Readonly<Record<AssetKey, Feed>>,
  contractsOf: ContractsOf,
): Readonly<Record<AssetKey, Feed>> {
  return Object.fromEntries(
    Object.entries(feeds).map(([asset, { feed, maxAgeSeconds, sequencer }]) => {
      const spelled = (text: string) => contractIn(text, addressOfAssetKey(asset).caip2, contractsOf);
      const uptime = sequencer === undefined ? {} : { sequencer: spelled(sequencer) };
      return [asset, { feed: spelled(feed), maxAgeSeconds, ...uptime }];
    }),
  );
}

function contractIn(text: string, caip2: string, contractsOf: ContractsOf): string {
  const contract = contractsOf(caip2)?.(text) ?? null;
  if (contract === null) throw new Error(`PRICE_SOURCES: ${caip2} has no contract ${text}`);
  return contract;
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
