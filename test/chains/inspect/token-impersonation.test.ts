import { expect, test } from 'vitest';
import { impersonatedToken, hasPhishingText } from '#chains/inspect/token-impersonation.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { present } from '../evm/cast.ts';

/** Covers tokens that imitate others, or whose names contain messages to their readers. */

const ethereum = present(findChain(chainsFrom({}), 'ethereum'));
const called = (symbol: string | null, name: string | null = null) => impersonatedToken({ symbol, name }, ethereum);

test.each([
  ['USDC', 'USDC'],
  ['usdc', 'USDC'],
  ['U S D C', 'USDC'],
  ['USDС', 'USDC'],
  ['ＵＳＤＴ', 'USDT'],
  ['U\u200BSDT', 'USDT'],
  ['ÈTH', 'ETH'],
  ['ЕTH', 'ETH'],
  ['$ETH$', 'ETH'],
  ['DA1', 'DAI'],
  ['MEME', null],
  ['USDC.e', null],
  ['', null],
])('the symbol %j imitates %s', (symbol, expected) => expect(called(symbol)).toBe(expected));

test('a name is checked like a symbol, and an empty text is no imitation', () => {
  expect([called('X', 'USDС'), called(null), called(null, 'Wrapped thing')]).toEqual(['USDC', null, null]);
});

test('only the native asset can be imitated if no token is listed', () => {
  const anvil = present(findChain(chainsFrom({}), 'anvil'));
  expect([
    impersonatedToken({ symbol: 'ETH', name: null }, anvil),
    impersonatedToken({ symbol: 'USDC', name: null }, anvil),
  ]).toEqual(['ETH', null]);
});

test.each([
  ['Visit usdc-rewards.com to claim', true],
  ['$ 5000 USDC AIRDROP', true],
  ['https://evil.example', true],
  ['get your ｖｏｕｃｈｅｒ', true],
  ['token . xyz', true],
  ['USD Coin', false],
  ['Reclaimed Land', false],
  ['yearn.finance', true],
  ['Wrapped Ether', false],
])('phishing text in %j is detected: %s', (name, expected) => {
  expect([hasPhishingText({ symbol: null, name }), hasPhishingText({ symbol: name, name: null })]).toEqual([
    expected,
    expected,
  ]);
});
