import { afterEach, expect, test, vi } from 'vitest';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { valueAssets, valueTokens } from '#jobs/value-assets.ts';
import { sweep } from '#jobs/sweep.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { amount } from '../domain/cast.ts';
import { asService, coordinator, WALLET } from '../http/scene.worker.ts';

/**
 * Covers how the service learns names and prices of assets, how often it calls their sources, and
 * unreachable sources.
 */

const NOON_MS = Date.UTC(2026, 10, 21, 12);
const MINUTE_MS = 60_000;
const env: CoordinatorEnv = {
  ...coordinator,
  RPC_URLS: JSON.stringify({ ethereum: ['https://node.test'] }),
  PRICE_SOURCES: JSON.stringify([{ type: 'defillama', url: 'http://prices.test' }]),
};
const ethereum = findChain(chainsFrom({}), 'ethereum') as Chain;
const onEthereum = () => ({ chain: ethereum, client: chainClientFor(env, ethereum) });
const WITHOUT_NODES = { chain: ethereum, client: null };
let numbers = 0x1000;
const newToken = () => `0x${(numbers += 1).toString(16).padStart(40, '0')}`;

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const text = (value: string) => {
  const hex = [...new TextEncoder().encode(value)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `0x${'20'.padStart(64, '0')}${(hex.length / 2).toString(16).padStart(64, '0')}${hex.padEnd(64, '0')}`;
};

/**
 * Starts an RPC node on which every token has the symbol MEME, and a price source that knows every
 * price or is unreachable.
 */
async function world({ isUnreachable = false } = {}) {
  // The first request creates the tables of this file.
  await asService('GET /internal/vault/1');
  vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS });
  const requested = { cosigner: 0, prices: 0 };
  const story = { isUnreachable, decimals: '6' };
  vi.stubGlobal('fetch', async (input: string | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const { url } = request;
    if (url.startsWith('http://prices.test')) {
      requested.prices += 1;
      if (story.isUnreachable) return new Response('', { status: 503 });
      const ids = url.split('/').at(-1)?.split(',') ?? [];
      const quote = { price: 2, timestamp: Date.now() / 1000, confidence: 0.99 };
      return Response.json({ coins: Object.fromEntries(ids.map((id) => [decodeURIComponent(id), quote])) });
    }
    requested.cosigner += 1;
    const { method, params, id } = JSON.parse(await request.text());
    const said: Readonly<Record<string, string>> = {
      '0x95d89b41': text('MEME'),
      '0x06fdde03': text('Visit meme.com'),
      '0x313ce567': `0x${story.decimals.padStart(64, '0')}`,
    };
    const result = method === 'eth_chainId' ? '0x1' : said[params[0].data];
    return Response.json({ jsonrpc: '2.0', id, result });
  });
  return { requested, story, later: (ms: number) => vi.setSystemTime(Date.now() + ms) };
}

const states = ({ native, tokens }: Awaited<ReturnType<typeof valueTokens>>) => [
  native.price.state,
  ...tokens.map(({ price }) => price.state),
];

test('the fields and the price of a token are requested once, and again when they are old', async () => {
  const { requested, later } = await world();
  const token = newToken();
  const first = await valueTokens(env, onEthereum(), [token]);
  expect(first.native.price).toMatchObject({ state: 'known', usdE12: '2000000000000' });
  expect(first.tokens).toMatchObject([
    { address: token, symbol: 'MEME', decimals: 6, isListed: false, hasPhishingText: true },
  ]);
  const once = { ...requested };
  later(MINUTE_MS);
  expect(await valueTokens(env, onEthereum(), [token])).toEqual(first);
  expect(requested).toEqual(once);
  later(5 * MINUTE_MS);
  await valueTokens(env, onEthereum(), [token]);
  expect(requested).toEqual({ cosigner: once.cosigner, prices: once.prices + 1 });
});

test('an unreachable price source is not called again for half a minute', async () => {
  const { requested, story, later } = await world({ isUnreachable: true });
  const token = newToken();
  later(60 * MINUTE_MS);
  expect(states(await valueTokens(env, onEthereum(), [token]))).toEqual(['unavailable', 'unavailable']);
  story.isUnreachable = false;
  expect(states(await valueTokens(env, onEthereum(), [token]))).toEqual(['unavailable', 'unavailable']);
  expect(requested.prices).toBe(1);
  later(MINUTE_MS);
  expect(states(await valueTokens(env, onEthereum(), [token]))).toEqual(['known', 'known']);
});

test('a listed token is known without a request to its chain', async () => {
  const { requested } = await world();
  const dollar = ethereum.tokens.find(({ symbol }) => symbol === 'USDC')?.address ?? '';
  const { tokens } = await valueTokens(env, onEthereum(), [dollar]);
  expect(tokens).toMatchObject([
    { symbol: 'USDC', decimals: 6, isListed: true, hasPhishingText: false, imitates: null },
  ]);
  expect(requested.cosigner).toBe(0);
});

test('a token has no available price while its chain is unreachable', async () => {
  await world();
  const blind = { ...env, RPC_URLS: '{}' };
  const { tokens } = await valueTokens(blind, WITHOUT_NODES, [newToken()]);
  expect(tokens).toMatchObject([{ symbol: null, decimals: null, price: { state: 'unavailable' } }]);
});

test('without a price source no asset has a price', async () => {
  const { requested } = await world();
  const { native, tokens } = await valueTokens({ ...env, PRICE_SOURCES: '' }, onEthereum(), [newToken()]);
  expect([native.price, tokens[0]?.price, requested.prices]).toEqual([{ state: 'unpriced' }, { state: 'unpriced' }, 0]);
});

const moves = (tokenAddress: string, to: string): ChainMovement => ({
  uid: `log:${tokenAddress}`,
  kind: 'erc20',
  from: null,
  to,
  tokenAddress,
  tokenId: null,
  amount: amount('1'),
});

test('a transaction is valued only by the assets that a wallet moved, and by twenty unlisted tokens at most', async () => {
  await world();
  const others = Array.from({ length: 30 }, () => moves(newToken(), newToken()));
  const ours = Array.from({ length: 30 }, () => moves(newToken(), WALLET));
  const { tokens } = await valueAssets(env, onEthereum(), { movements: [...others, ...ours], wallets: [WALLET] });
  expect(tokens.map(({ address }) => address)).toEqual(ours.slice(0, 20).map(({ tokenAddress }) => tokenAddress));
});

test('listed tokens and tokens with a known price are valued first, whatever their place', async () => {
  await world();
  const junk = Array.from({ length: 30 }, () => newToken());
  const priced = newToken();
  await valueTokens(env, onEthereum(), [priced]);
  const listed = ethereum.tokens.map(({ address }) => address);
  const movements = [...junk, priced, ...listed].map((token) => moves(token, WALLET));
  const { tokens } = await valueAssets(env, onEthereum(), { movements, wallets: [WALLET] });
  expect(tokens.map(({ address }) => address)).toEqual([...listed, priced, ...junk.slice(0, 19)]);
  expect(tokens.slice(0, listed.length).every(({ price }) => price.state === 'known')).toBe(true);
});

test('the prices of hundreds of unlisted tokens are looked up at most', async () => {
  await world();
  const junk = Array.from({ length: 450 }, () => newToken());
  const priced = newToken();
  await valueTokens(env, onEthereum(), [priced]);
  const movements = [...junk, priced].map((token) => moves(token, WALLET));
  const { tokens } = await valueAssets(env, onEthereum(), { movements, wallets: [WALLET] });
  expect(tokens.map(({ address }) => address)).toEqual(junk.slice(0, 20));
});

test('a valuation is removed after two months, unless it was requested again', async () => {
  const { later } = await world();
  later(24 * 60 * MINUTE_MS);
  const [old, fresh] = [newToken(), newToken()];
  await valueTokens(env, onEthereum(), [old]);
  later(61 * 24 * 60 * MINUTE_MS);
  await valueTokens(env, onEthereum(), [fresh]);
  await sweep(env, { nowMs: Date.now(), settingFaults: [], fingerprints: [] });
  const rows = async (query: string) => (await env.DB.prepare(query).bind(old).all()).results.length;
  expect(await rows('SELECT 1 FROM tokens WHERE address = ?')).toBe(0);
  expect(await rows("SELECT 1 FROM prices WHERE asset = 'eip155:1/erc20:' || ?")).toBe(0);
  const { tokens } = await valueTokens({ ...env, RPC_URLS: '{}' }, WITHOUT_NODES, [fresh]);
  expect(tokens[0]?.symbol).toBe('MEME');
});

test('the decimals of a token stay as they were first read, and a change is an alert', async () => {
  const { story, later } = await world();
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const token = newToken();
  await valueTokens(env, onEthereum(), [token]);
  story.decimals = '8';
  later(8 * 24 * 60 * MINUTE_MS);
  const { tokens } = await valueTokens(env, onEthereum(), [token]);
  expect(tokens).toMatchObject([{ symbol: 'MEME', decimals: 6 }]);
  const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ event: 'alert', code: 'token-decimals-changed' }),
      { event: 'token-decimals-kept', chain: 'ethereum', contract: token, decimals: 6 },
    ]),
  );
});
