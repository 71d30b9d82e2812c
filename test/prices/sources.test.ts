import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainsFrom } from '#chains/families/registry.ts';
import type { FeedRound, Price } from '#domain/asset/price.ts';
import { contractsByChain } from '#chains/families/contracts-by-chain.ts';
import type { FeedReader } from '#prices/chainlink.ts';
import { chainlink } from '#prices/chainlink.ts';
import { defillama } from '#prices/defillama.ts';
import type { PriceSource } from '#prices/price-source.ts';
import { assetName, addressOfAssetKey, pricesOf } from '#prices/price-source.ts';
import { priceSources } from '#prices/settings.ts';

/** Covers which source is called for a price, in what order, and which prices are not accepted. */

const NOON_MS = Date.UTC(2026, 10, 21, 12);
const NOON = NOON_MS / 1000;
const NATIVE = assetName('eip155:1', null);
const DOLLAR_TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const DOLLAR = assetName('eip155:1', DOLLAR_TOKEN);
const CASED = assetName('eip155:1', '0xdAC17F958D2ee523a2206206994597C13D831ec7');
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const BITCOIN = 'bip122:000000000019d6689c085ae165831e93';
const MEME = assetName('eip155:1', '0x4444444444444444444444444444444444444444');

const known = (usdE12: string, atMs = NOON_MS): Price => ({ state: 'known', usdE12, atMs });
const source =
  (prices: Readonly<Record<string, Price>>): PriceSource =>
  async () =>
    new Map(Object.entries(prices));
const unreachable: PriceSource = async () => null;
const reported = async (sources: readonly PriceSource[], assets = [NATIVE, DOLLAR, MEME]) =>
  Object.fromEntries(await pricesOf(sources, assets, NOON_MS));

test('the name of an asset has its chain and its token', () => {
  expect([NATIVE, addressOfAssetKey(NATIVE), addressOfAssetKey(DOLLAR)]).toEqual([
    'eip155:1',
    { caip2: 'eip155:1', tokenAddress: null },
    { caip2: 'eip155:1', tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' },
  ]);
});

test('the first source that knows a price wins, and the next sources are called only for the missing prices', async () => {
  const requests: (readonly string[])[] = [];
  const second: PriceSource = async (assets) => {
    requests.push(assets);
    return new Map([[DOLLAR, known('2')]]);
  };
  const third = source({ [NATIVE]: known('3'), [DOLLAR]: known('3') });
  expect(await reported([source({ [NATIVE]: known('1') }), second, third])).toEqual({
    [NATIVE]: known('1'),
    [DOLLAR]: known('2'),
    [MEME]: { state: 'unknown' },
  });
  expect(requests).toEqual([[DOLLAR, MEME]]);
});

test('an asset whose price an unreachable source may know is unknown, and without any source no asset has a price', async () => {
  const some = source({ [NATIVE]: known('1') });
  const unavailable = { state: 'unavailable' };
  expect(await reported([unreachable, some])).toEqual({
    [NATIVE]: known('1'),
    [DOLLAR]: unavailable,
    [MEME]: unavailable,
  });
  expect(await reported([])).toEqual({
    [NATIVE]: { state: 'unpriced' },
    [DOLLAR]: { state: 'unpriced' },
    [MEME]: { state: 'unpriced' },
  });
});

/** Serves DefiLlama's answers on loopback. */
let url = '';
let answer: { status: number; body: string } = { status: 200, body: '' };
const paths: string[] = [];
const server = createServer((request, response) => {
  paths.push(request.url ?? '');
  response.writeHead(answer.status, { location: 'http://127.0.0.1:1/' }).end(answer.body);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const llama = async (quotes: object, assets = [NATIVE, DOLLAR, MEME]) => {
  answer = { status: 200, body: JSON.stringify({ coins: quotes }) };
  const prices = await defillama(url)(assets, NOON_MS);
  return prices === null ? null : Object.fromEntries(prices);
};
const dollarId = 'ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const quote = (differences: object = {}) => ({
  price: 0.9998,
  symbol: 'X',
  timestamp: NOON,
  confidence: 0.99,
  ...differences,
});

test('one request covers all assets, under the names that the source uses', async () => {
  const prices = await llama({ 'coingecko:ethereum': quote({ price: 2500.5 }), [dollarId]: quote() });
  expect(prices).toEqual({ [NATIVE]: known('2500500000000000'), [DOLLAR]: known('999800000000') });
  expect(paths.at(-1)).toBe(
    `/prices/current/coingecko:ethereum,${dollarId},ethereum:0x4444444444444444444444444444444444444444`,
  );
});

test.each([
  ['that the source is not sure of', { confidence: 0.89 }],
  ['that does not mention it', { confidence: undefined }],
  ['of an hour and more ago', { timestamp: NOON - 3601 }],
])('the price %s is invalid', async (_name, differences) => {
  expect(await llama({ [dollarId]: quote(differences) }, [DOLLAR])).toEqual({});
});

test('a very small price is read exactly', async () => {
  expect(await llama({ [dollarId]: quote({ price: 1.25e-9 }) }, [DOLLAR])).toEqual({ [DOLLAR]: known('1250') });
});

test('the source is not called for a chain that it does not know', async () => {
  const before = paths.length;
  expect(
    await llama({}, ['eip155:31337', assetName('eip155:31337', '0x4444444444444444444444444444444444444444')]),
  ).toEqual({});
  expect(paths.length).toBe(before);
});

test.each([
  ['an error', 500, '{}'],
  ['a detour', 302, ''],
  ['no JSON', 200, 'sorry'],
  ['another shape', 200, '{"coins":[]}'],
  ['a negative price', 200, JSON.stringify({ coins: { [dollarId]: quote({ price: -1 }) } })],
  ['far too much', 200, JSON.stringify({ coins: {}, filler: 'x'.repeat(1_000_000) })],
])('%s is not a valid response', async (_name, status, body) => {
  answer = { status, body };
  expect(await defillama(url)([DOLLAR], NOON_MS)).toBeNull();
});

test('an unreachable source gives no prices', async () => {
  expect(await defillama('http://127.0.0.1:1')([DOLLAR], NOON_MS)).toBeNull();
});

const round = (differences: Partial<FeedRound> = {}): FeedRound => ({
  answer: 250_000_000_000n,
  decimals: 8n,
  startedAt: BigInt(NOON - 7200),
  updatedAt: BigInt(NOON - 60),
  isOfItsRound: true,
  ...differences,
});
const FEED = '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419';
const SEQUENCER = '0xFdB631F5EE196F0ed6FAa767959853A9F217697D';

async function fed(rounds: Readonly<Record<string, FeedRound | null>>, sequencer?: string): Promise<Price | undefined> {
  const feed = { feed: FEED, maxAgeSeconds: 3600, sequencer };
  const prices = await chainlink({ [NATIVE]: feed }, async (caip2, at) =>
    caip2 === NATIVE ? (rounds[at] ?? null) : null,
  )([NATIVE, DOLLAR], NOON_MS);
  expect(prices?.has(DOLLAR)).toBe(false);
  return prices?.get(NATIVE);
}

test('a price feed on the chain gives a price, with the time of its answer', async () => {
  expect(await fed({ [FEED]: round() })).toEqual(known('2500000000000000', NOON_MS - 60_000));
  const running = round({ answer: 0n, startedAt: BigInt(NOON - 3600) });
  expect(await fed({ [FEED]: round(), [SEQUENCER]: running }, SEQUENCER)).toEqual(
    known('2500000000000000', NOON_MS - 60_000),
  );
});

test.each<[string, Readonly<Record<string, FeedRound | null>>, string?]>([
  ['that cannot be read', { [FEED]: null }],
  ['that has no answer', { [FEED]: round({ answer: 0n }) }],
  ['that is negative', { [FEED]: round({ answer: -1n }) }],
  ['that is too old', { [FEED]: round({ updatedAt: BigInt(NOON - 3601) }) }],
  ['that was carried over', { [FEED]: round({ isOfItsRound: false }) }],
  ['while the sequencer is down', { [FEED]: round(), [SEQUENCER]: round({ answer: 1n }) }, SEQUENCER],
  [
    'just after it was',
    { [FEED]: round(), [SEQUENCER]: round({ answer: 0n, startedAt: BigInt(NOON - 3599) }) },
    SEQUENCER,
  ],
  ['while the state of the sequencer is unknown', { [FEED]: round() }, SEQUENCER],
  [
    'while the feed of the sequencer has no round yet',
    // Chainlink's page of L2 sequencer uptime feeds: `startedAt` is 0 until the first round.
    { [FEED]: round(), [SEQUENCER]: round({ answer: 0n, startedAt: 0n, updatedAt: 0n }) },
    SEQUENCER,
  ],
  [
    'while the round of the sequencer starts in the future',
    { [FEED]: round(), [SEQUENCER]: round({ answer: 0n, startedAt: BigInt(NOON + 1) }) },
    SEQUENCER,
  ],
])('a feed %s gives no price', async (_name, rounds, sequencer) => {
  expect(await fed(rounds, sequencer)).toEqual({ state: 'unavailable' });
});

const staticPrice = (asset: string) => JSON.stringify([{ type: 'static', prices: { [asset]: '1' } }]);
const feedOf = (feed: object, asset = NATIVE) =>
  JSON.stringify([{ type: 'chainlink', feeds: { [asset]: { maxAgeSeconds: 3600, ...feed } } }]);
const noSource = async () => null;
const chains = chainsFrom({});
/** Reads the setting as the service does, with a reader of feeds. */
const sourcesOf = (setting: string | undefined, read: FeedReader = noSource) =>
  priceSources(setting, { read, contractsOf: contractsByChain(chains) });

test('the setting is empty, or lists price sources in their order', async () => {
  expect([sourcesOf(undefined), sourcesOf(' ')]).toEqual([[], []]);
  const setting = JSON.stringify([
    { type: 'static', prices: { [DOLLAR]: '1.00' } },
    { type: 'chainlink', feeds: { [NATIVE]: { feed: FEED, maxAgeSeconds: 3600 } } },
    { type: 'defillama', url: `${url}/` },
  ]);
  answer = { status: 200, body: JSON.stringify({ coins: {} }) };
  const sources = sourcesOf(setting, async () => round());
  expect(sources).toHaveLength(3);
  expect(await reported(sources)).toEqual({
    [NATIVE]: known('2500000000000000', NOON_MS - 60_000),
    [DOLLAR]: known('1000000000000'),
    [MEME]: { state: 'unknown' },
  });
  expect(paths.at(-1)).toBe('/prices/current/ethereum:0x4444444444444444444444444444444444444444');
});

test('a token in lower case has its price, from a fixed price and from a feed', async () => {
  const read: string[] = [];
  const sources = sourcesOf(
    JSON.stringify([
      { type: 'static', prices: { [DOLLAR.toLowerCase()]: '1.00' } },
      { type: 'chainlink', feeds: { [MEME]: { feed: FEED.toLowerCase(), maxAgeSeconds: 3600 } } },
      { type: 'chainlink', feeds: { [CASED.toLowerCase()]: { feed: FEED, maxAgeSeconds: 3600 } } },
    ]),
    async (_caip2, feed) => {
      read.push(feed);
      return round();
    },
  );
  const feedPrice = known('2500000000000000', NOON_MS - 60_000);
  expect(await reported(sources, [DOLLAR, MEME, CASED])).toEqual({
    [DOLLAR]: known('1000000000000'),
    [MEME]: feedPrice,
    [CASED]: feedPrice,
  });
  expect(read).toEqual([FEED, FEED]);
});

test('the refusal of a setting names the address, and a mint keeps its spelling', async () => {
  const wrong = `eip155:1/erc20:${DOLLAR_TOKEN.replace('A0b', 'a0b')}`;
  expect(() => sourcesOf(staticPrice(wrong))).toThrow(
    `eip155:1 has no contract ${addressOfAssetKey(wrong).tokenAddress}`,
  );
  const mint = `${SOLANA}/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v`;
  expect(await reported(sourcesOf(staticPrice(mint)), [mint])).toEqual({ [mint]: known('1000000000000') });
});

test.each([
  ['no JSON', '['],
  ['no list', '{}'],
  ['a kind that does not exist', '[{"type":"oracle"}]'],
  ['an invalid price', '[{"type":"static","prices":{"eip155:1":"plenty"}}]'],
  ['an invalid asset', '[{"type":"static","prices":{"ETH":"1"}}]'],
  ['a feed without an age', `[{"type":"chainlink","feeds":{"eip155:1":{"feed":"${FEED}"}}}]`],
  ['an invalid address', '[{"type":"defillama","url":"ftp://prices"}]'],
  ['an address with a wrong checksum', staticPrice(`eip155:1/erc20:${DOLLAR_TOKEN.replace('A0b', 'a0b')}`)],
  ['the zero address as a token', staticPrice(`eip155:1/erc20:0x${'0'.repeat(40)}`)],
  ['a mint that is no public key', staticPrice(`${SOLANA}/token:${'z'.repeat(44)}`)],
  ['a token of a chain without tokens', staticPrice(`${BITCOIN}/erc20:${DOLLAR_TOKEN}`)],
  ['an unknown chain', staticPrice('eip155:999999999')],
  [
    'two prices of one asset',
    JSON.stringify([{ type: 'static', prices: { [DOLLAR]: '1', [DOLLAR.toLowerCase()]: '2' } }]),
  ],
  ['a feed at no address', feedOf({ feed: FEED.replace('5f4', '5F4') })],
  ['a sequencer at no address', feedOf({ feed: FEED, sequencer: SEQUENCER.replace('FdB', 'fdB') })],
  ['a feed of an asset on Solana', feedOf({ feed: FEED }, SOLANA)],
  ['a field too many', '[{"type":"static","prices":{},"extra":1}]'],
])('the service does not start with a setting that has %s', (_name, setting) => {
  expect(() => sourcesOf(setting)).toThrow('PRICE_SOURCES');
});
