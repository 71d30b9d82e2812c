import { expect, test } from 'vitest';
import { BUILT_IN_CHAINS } from '#chains/families/built-in-chains.ts';
import { assetRecord } from '#http/encode/asset.ts';

/** Covers where the name of an asset comes from, and which tokens imitate another asset. */

const chain = BUILT_IN_CHAINS.find(({ name }) => name === 'ethereum') ?? null;
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const FAKE = '0x2279B7A0a67DB372996a5FaB50D91eAA73d2eBe6';
const named = (symbol: string | null) => ({
  chain,
  rules: {},
  labels: [{ address: FAKE, symbol, decimals: 6 }],
});

test('the native asset and a listed token have the names of the operator', () => {
  expect(assetRecord(null, { chain, rules: {} })).toEqual({
    tokenAddress: null,
    symbol: 'ETH',
    decimals: 18,
    trust: 'native',
    imitates: null,
  });
  const claimed = [{ address: USDC, symbol: 'SCAM', decimals: 0 }];
  expect(assetRecord(USDC, { chain, rules: {}, labels: claimed })).toEqual({
    tokenAddress: USDC,
    symbol: 'USDC',
    decimals: 6,
    trust: 'listed',
    imitates: null,
  });
});

test('a token of the policy has the name that the quorum adopted, on its chain alone', () => {
  const tokens = [{ chain: 'eip155:1', tokenAddress: FAKE, symbol: 'ACME', decimals: 2 }];
  const names = { ...named('USDC'), rules: { tokens } };
  expect(assetRecord(FAKE, names)).toEqual({
    tokenAddress: FAKE,
    symbol: 'ACME',
    decimals: 2,
    trust: 'policy',
    imitates: null,
  });
  const base = BUILT_IN_CHAINS.find(({ name }) => name === 'base') ?? null;
  expect(assetRecord(FAKE, { ...names, chain: base })).toMatchObject({ symbol: 'USDC', trust: 'unlisted' });
});

test.each([
  ['USDC', 'USDC'],
  ['usdc', 'USDC'],
  ['U S D C', 'USDC'],
  ['USDС', 'USDC'],
  ['U\u200bSDC', 'USDC'],
  ['ETH', 'ETH'],
  ['weth', 'WETH'],
  ['ACME', null],
  ['https://claim.example', null],
  ['', null],
  [null, null],
])('an unlisted token that calls itself %j imitates %j', (symbol, imitates) => {
  expect(assetRecord(FAKE, named(symbol))).toMatchObject({ symbol, trust: 'unlisted', imitates });
});

test('a token imitates an asset that only the policy names', () => {
  const tokens = [{ chain: 'eip155:1', tokenAddress: USDC, symbol: 'ACME', decimals: 2 }];
  expect(assetRecord(FAKE, { ...named('АСМЕ'), rules: { tokens } }).imitates).toBe('ACME');
});

test('a token on a chain that is not configured is unlisted', () => {
  expect(assetRecord(USDC, { chain: null, rules: {} })).toMatchObject({ symbol: null, trust: 'unlisted' });
});
