import { expect, test } from 'vitest';
import type { Valuation, TokenProfile } from '#domain/asset/valuation.ts';
import { usdValueOf } from '#domain/asset/valuation.ts';
import type { ChainMovement } from '#domain/activity/movement.ts';
import { movementsOf } from '#domain/activity/movement.ts';
import type { Price } from '#domain/asset/price.ts';
import type { KnownCounterparties } from '#domain/activity/spam.ts';
import { hiddenReasonOf } from '#domain/activity/spam.ts';
import { amount, NO_COUNTERPARTIES } from '../cast.ts';

/** Covers incoming activity that the default list hides as spam, and the reason for each. */

const WALLET = '0x1111111111111111111111111111111111111111';
const BOB = '0x2222222222222222222222222222222222222222';
const POISONER = '0x2229999999999999999999999999999999992222';
const DOLLAR = '0x3333333333333333333333333333333333333333';
const MEME = '0x4444444444444444444444444444444444444444';

const at = (usdE12: string): Price => ({ state: 'known', usdE12, atMs: 7 });
const ONE = at('1000000000000');
const UNKNOWN: Price = { state: 'unknown' };
const UNREACHABLE: Price = { state: 'unavailable' };
const NONE: Price = { state: 'unpriced' };

const facts = (differences: Partial<TokenProfile> = {}): TokenProfile => ({
  address: MEME,
  symbol: 'MEME',
  decimals: 6,
  price: UNKNOWN,
  isListed: false,
  imitates: null,
  hasPhishingText: false,
  ...differences,
});
const dollar = (price: Price = ONE) => facts({ address: DOLLAR, symbol: 'USDC', price, isListed: true });
const valued = (tokens: readonly TokenProfile[], native: Price = at('2500000000000000')): Valuation => ({
  native: { price: native, decimals: 18 },
  tokens,
});

let number = 0;
const moved = (differences: Partial<ChainMovement>): ChainMovement => ({
  uid: `log:${(number += 1)}`,
  kind: 'erc20',
  from: BOB,
  to: WALLET,
  tokenAddress: MEME,
  tokenId: null,
  amount: amount('1000000'),
  ...differences,
});
const native = (units: string, from = BOB) =>
  moved({ kind: 'native', tokenAddress: null, amount: amount(units), from });
const dollars = (units: string, from = BOB) => moved({ tokenAddress: DOLLAR, amount: amount(units), from });
const collectible = moved({ kind: 'erc721', tokenId: '9', amount: amount('1') });

const knowing: KnownCounterparties = {
  isLookalike: (address) => address === POISONER,
  hasSent: (token) => token === MEME,
};
const sender: KnownCounterparties = { ...NO_COUNTERPARTIES, hasSent: (token) => token === MEME };
const wary: KnownCounterparties = { ...NO_COUNTERPARTIES, isLookalike: (address) => address === POISONER };

type Story = [
  name: string,
  movements: readonly ChainMovement[],
  valuation: Valuation,
  acquaintance: KnownCounterparties,
  expected: string | null,
];
const crowd = Array.from({ length: 21 }, (_, i) => moved({ to: `0x${String(i).padStart(40, '0')}` }));

test.each<Story>([
  ['coins', [native('1')], valued([]), NO_COUNTERPARTIES, null],
  ['a single wei, whatever its value', [native('1')], valued([], NONE), NO_COUNTERPARTIES, null],
  ['a transfer of nothing', [dollars('0', WALLET)], valued([dollar()]), NO_COUNTERPARTIES, 'ZERO_VALUE'],
  ['nothing of this and something of that', [dollars('0'), native('1')], valued([dollar()]), NO_COUNTERPARTIES, null],
  ['exactly half a cent', [dollars('5000')], valued([dollar()]), NO_COUNTERPARTIES, null],
  ['less than half a cent', [dollars('4999')], valued([dollar()]), NO_COUNTERPARTIES, 'LOW_VALUE'],
  ['twice a quarter of a cent', [dollars('2500'), dollars('2500')], valued([dollar()]), NO_COUNTERPARTIES, null],
  [
    'half a cent of a token that is not listed',
    [moved({ amount: amount('5000') })],
    valued([facts({ price: ONE })]),
    NO_COUNTERPARTIES,
    null,
  ],
  ['less of it', [moved({ amount: amount('4999') })], valued([facts({ price: ONE })]), NO_COUNTERPARTIES, 'LOW_VALUE'],
  ['a token that no source knows', [moved({})], valued([facts()]), NO_COUNTERPARTIES, 'UNKNOWN_TOKEN'],
  ['a token that no source knows', [moved({})], valued([]), NO_COUNTERPARTIES, 'UNKNOWN_TOKEN'],
  ['one that the vault has sent before', [moved({})], valued([facts()]), sender, null],
  ['a listed one without a price', [dollars('1')], valued([dollar(UNKNOWN)]), NO_COUNTERPARTIES, null],
  ['while the source is unreachable', [moved({})], valued([facts({ price: UNREACHABLE })]), NO_COUNTERPARTIES, null],
  ['where there is no source', [moved({})], valued([facts({ price: NONE })]), NO_COUNTERPARTIES, null],
  [
    'a token without decimals',
    [moved({})],
    valued([facts({ price: ONE, decimals: null })]),
    NO_COUNTERPARTIES,
    'UNKNOWN_TOKEN',
  ],
  [
    'a token in a listed one’s name',
    [moved({})],
    valued([facts({ price: NONE, imitates: 'USDC' })]),
    NO_COUNTERPARTIES,
    'FAKE_TOKEN',
  ],
  [
    'the same with a price: a bridged one',
    [moved({})],
    valued([facts({ price: ONE, imitates: 'USDC' })]),
    NO_COUNTERPARTIES,
    null,
  ],
  [
    'a name that wants a visit',
    [moved({})],
    valued([facts({ price: NONE, hasPhishingText: true })]),
    NO_COUNTERPARTIES,
    'BAIT',
  ],
  [
    'a collectible with such a name',
    [collectible],
    valued([facts({ price: NONE, hasPhishingText: true })]),
    NO_COUNTERPARTIES,
    'BAIT',
  ],
  ['a collectible', [collectible], valued([facts()]), NO_COUNTERPARTIES, null],
  [
    'a token for the crowd',
    [moved({}), ...crowd],
    valued([facts({ price: NONE })]),
    NO_COUNTERPARTIES,
    'MASS_TRANSFER',
  ],
  [
    'a token with a price for the crowd',
    [moved({}), ...crowd],
    valued([facts({ price: ONE })]),
    NO_COUNTERPARTIES,
    null,
  ],
  ['a token for a few', [moved({}), ...crowd.slice(0, 10)], valued([facts({ price: NONE })]), NO_COUNTERPARTIES, null],
  [
    'bait with a crumb of something real',
    [moved({}), dollars('1')],
    valued([facts({ hasPhishingText: true }), dollar()]),
    NO_COUNTERPARTIES,
    'BAIT',
  ],
  [
    'bait with a fraction of the native asset',
    [moved({}), native('1')],
    valued([facts({ hasPhishingText: true })]),
    NO_COUNTERPARTIES,
    null,
  ],
  ['dust from an address that imitates a known one', [native('1', POISONER)], valued([]), wary, 'LOOKALIKE'],
  ['dust to one, in the vault’s name', [moved({ from: WALLET, to: POISONER })], valued([facts()]), wary, 'LOOKALIKE'],
  ['half a cent from one', [dollars('5000', POISONER)], valued([dollar()]), wary, 'LOOKALIKE'],
  ['a whole dollar from one', [dollars('1000000', POISONER)], valued([dollar()]), wary, null],
  ['a native amount from one, without a source', [native('1', POISONER)], valued([], NONE), wary, 'LOOKALIKE'],
  ['dust from a known address', [native('1')], valued([]), knowing, null],
])('%s', (_name, movements, valuation, acquaintance, expected) => {
  const { changes } = movementsOf(WALLET, movements, { tokens: [] });
  expect(hiddenReasonOf({ wallet: WALLET, movements, changes }, valuation, acquaintance)).toBe(expected);
});

test.each<[string, readonly ChainMovement[], Valuation, string | null]>([
  ['the received amount', [dollars('1500000'), native('1000000000000000000')], valued([dollar()]), '2501.50'],
  [
    'the received amount of a trade',
    [moved({ from: WALLET, to: BOB }), dollars('2000000')],
    valued([dollar(), facts()]),
    '2.00',
  ],
  [
    'the sent amount of a payment',
    [moved({ tokenAddress: DOLLAR, from: WALLET, to: BOB })],
    valued([dollar()]),
    '1.00',
  ],
  ['nothing where one price is not known', [dollars('1500000'), moved({})], valued([dollar(), facts()]), null],
  ['nothing where nothing moved', [dollars('0')], valued([dollar()]), null],
])('the market value of a record is %s', (_name, movements, valuation, expected) => {
  const { changes } = movementsOf(WALLET, movements, { tokens: [] });
  expect(usdValueOf(changes, valuation)?.usd ?? null).toBe(expected);
});
