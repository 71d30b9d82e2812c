import type { ChainClient } from '#chains/chain-client.ts';
import { chainClients } from '#chains/clients/client-for.ts';
import { impersonatedToken, hasPhishingText } from '#chains/inspect/token-impersonation.ts';
import { contractsByChain } from '#chains/families/contracts-by-chain.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { ChainTransaction } from '#domain/activity/activity.ts';
import type { Valuation, TokenProfile } from '#domain/asset/valuation.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import { concerns } from '#domain/asset/movement.ts';
import type { Price } from '#domain/asset/price.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { raiseAlert } from '#objects/metrics.ts';
import type { FeedReader } from '#prices/chainlink.ts';
import type { AssetKey } from '#prices/price-source.ts';
import { assetName, pricesOf } from '#prices/price-source.ts';
import { priceSources } from '#prices/settings.ts';
import type { CachedPrice, CachedToken } from '#store/valuations.ts';
import { saveValuation, cachedPrices, cachedTokens } from '#store/valuations.ts';

/**
 * The maximum number of unlisted tokens for one transaction; further ones have no price, and count
 * as unknown. An untrusted transaction can move any number of tokens.
 */
const MAX_UNLISTED = 20;
/** The maximum number of unlisted tokens whose last price is looked up: five queries of D1. */
const MAX_RANKED = 400;

/** How long a price is cached, then an unknown price, then the failure of an unreachable source. */
const KNOWN_MS = 5 * 60_000;
const UNKNOWN_MS = 10 * 60_000;
const UNAVAILABLE_MS = 30_000;

/** A token may change its name. Its decimals stay as they were first read. */
const METADATA_MS = 7 * 24 * 60 * 60_000;

interface ValuedChain {
  readonly chain: Chain;
  /** Null without RPC nodes: tokens have the metadata that is cached. */
  readonly client: ChainClient | null;
}

/** Returns the valuation of every asset that a transaction moved to or from some wallets. */
export async function valueAssets(
  env: CoordinatorEnv,
  valued: ValuedChain,
  { movements, wallets }: Pick<ChainTransaction, 'movements'> & { readonly wallets: readonly string[] },
): Promise<Valuation> {
  const concerning = movements.filter((one) => wallets.some((wallet) => concerns(wallet, one)));
  const addresses = new Set(concerning.flatMap(({ tokenAddress }) => tokenAddress ?? []));
  return valueTokens(env, valued, await tokensToValue(env, valued.chain, [...addresses]));
}

/**
 * Returns the tokens that are valued: each listed one, and of the others those that had a price
 * before others. Their place in the transaction does not count, because a stranger decides it.
 */
async function tokensToValue(
  env: CoordinatorEnv,
  chain: Chain,
  addresses: readonly string[],
): Promise<readonly string[]> {
  const isListed = (address: string) => listedToken(chain, address) !== null;
  const listed = addresses.filter(isListed);
  const others = addresses.filter((address) => !isListed(address));
  if (others.length <= MAX_UNLISTED) return [...listed, ...others];
  const ranked = others.slice(0, MAX_RANKED);
  const known = await cachedPrices(
    env.DB,
    ranked.map((address) => assetName(chain.caip2, address)),
  );
  const names = new Set(known.filter(({ state }) => state === 'known').map(({ asset }) => asset));
  const isPriced = (address: string) => names.has(assetName(chain.caip2, address));
  const first = [...ranked.filter(isPriced), ...ranked.filter((address) => !isPriced(address))];
  return [...listed, ...first.slice(0, MAX_UNLISTED)];
}

/**
 * Returns the valuation of a chain's native asset and some of its tokens; cached for later calls.
 */
export async function valueTokens(
  env: CoordinatorEnv,
  valued: ValuedChain,
  some: readonly string[],
): Promise<Valuation> {
  const nowMs = Date.now();
  const { chain } = valued;
  const metadata = await metadataOf(env, valued, { addresses: some, nowMs });
  const assets = [null, ...some].map((address) => assetName(chain.caip2, address));
  const found = await assetPrices(env, valued, { assets, nowMs });
  await saveValuation(env.DB, { tokens: metadata.fresh, prices: found.fresh });
  const priceOf = (address: string | null): Price =>
    found.prices.get(assetName(chain.caip2, address)) ?? { state: 'unknown' };
  return {
    native: { price: priceOf(null), decimals: chain.nativeDecimals },
    tokens: some.map((address) =>
      factsFor(address, chain, { token: metadata.tokens.get(address), price: priceOf(address) }),
    ),
  };
}

/**
 * Returns the profile of a token. When its chain is unreachable the token's metadata is unknown, so
 * no price applies.
 */
function factsFor(
  address: string,
  chain: Chain,
  { token, price }: { readonly token: CachedToken | undefined; readonly price: Price },
): TokenProfile {
  const listed = listedToken(chain, address);
  if (listed !== null) {
    const { symbol, decimals } = listed;
    return { address, symbol, decimals, price, isListed: true, imitates: null, hasPhishingText: false };
  }
  if (token === undefined) {
    const unread = { state: price.state === 'unpriced' ? 'unpriced' : 'unavailable' } as const;
    return {
      address,
      symbol: null,
      decimals: null,
      price: unread,
      isListed: false,
      imitates: null,
      hasPhishingText: false,
    };
  }
  const { symbol, decimals } = token;
  return {
    address,
    symbol,
    decimals,
    price,
    isListed: false,
    imitates: impersonatedToken(token, chain),
    hasPhishingText: hasPhishingText(token),
  };
}

interface Requested {
  readonly addresses: readonly string[];
  readonly nowMs: number;
}

async function metadataOf(env: CoordinatorEnv, { chain, client }: ValuedChain, { addresses, nowMs }: Requested) {
  const requested = addresses.filter((address) => listedToken(chain, address) === null);
  const known = await cachedTokens(env.DB, chain.name, requested);
  const tokens = new Map(known.map((token) => [token.address, token]));
  const fresh: CachedToken[] = [];
  const old = requested.filter((address) => nowMs - (tokens.get(address)?.readAtMs ?? 0) >= METADATA_MS);
  // All tokens are read at once: a slow one takes at most the time-out of the RPC node.
  const read = await Promise.all(old.map(async (address) => ({ address, answer: await client?.token(address) })));
  for (const { address, answer } of read) {
    if (answer?.ok !== true) continue;
    const before = tokens.get(address)?.decimals ?? null;
    const token = { chain: chain.name, address, ...answer.value, readAtMs: nowMs };
    // People read amounts by these decimals, and approve what they read.
    if (before !== null && before !== token.decimals) {
      token.decimals = before;
      await raiseAlert(env, {
        code: 'token-decimals-changed',
        subject: chain.name,
        detail: `A token of ${chain.name} states other decimals.`,
      });
      console.error(
        JSON.stringify({ event: 'token-decimals-kept', chain: chain.name, contract: address, decimals: before }),
      );
    }
    tokens.set(address, token);
    fresh.push(token);
  }
  return { tokens, fresh };
}

async function assetPrices(
  env: CoordinatorEnv,
  valued: ValuedChain,
  { assets, nowMs }: { readonly assets: readonly AssetKey[]; readonly nowMs: number },
) {
  const sources = priceSources(env.PRICE_SOURCES, {
    read: feedReader(env, valued),
    contractsOf: contractsByChain(chainsFrom(env)),
  });
  const kept = sources.length === 0 ? [] : await cachedPrices(env.DB, assets);
  const current = kept.filter(({ state, requestedAtMs }) => nowMs - requestedAtMs < TIMES[state]);
  const prices = new Map<AssetKey, Price>(current.map((row) => [row.asset, priceOfRow(row)]));
  const answer = await pricesOf(
    sources,
    assets.filter((asset) => !prices.has(asset)),
    nowMs,
  );
  const fresh: CachedPrice[] = [];
  for (const [asset, price] of answer) {
    prices.set(asset, price);
    if (price.state === 'unpriced') continue;
    const quoted = price.state === 'known' ? { usdE12: price.usdE12, atMs: price.atMs } : { usdE12: null, atMs: nowMs };
    fresh.push({ asset, state: price.state, requestedAtMs: nowMs, ...quoted });
  }
  return { prices, fresh };
}

const TIMES: Readonly<Record<CachedPrice['state'], number>> = {
  known: KNOWN_MS,
  unknown: UNKNOWN_MS,
  unavailable: UNAVAILABLE_MS,
};

function priceOfRow({ state, usdE12, atMs }: CachedPrice): Price {
  if (state === 'known') return usdE12 === null ? { state: 'unknown' } : { state, usdE12, atMs };
  return { state };
}

/** Returns a reader of price feeds on the chains that have an RPC node. */
function feedReader(env: CoordinatorEnv, valued: ValuedChain): FeedReader {
  const clientOf = chainClients(env);
  return async (caip2, feed) => {
    const chain = findChain(chainsFrom(env), caip2);
    const client = chain === null ? null : caip2 === valued.chain.caip2 ? valued.client : clientOf(chain);
    const round = await client?.priceFeed(feed);
    return round?.ok === true ? round.value : null;
  };
}
