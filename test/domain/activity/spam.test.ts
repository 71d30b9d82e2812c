import { expect, test } from 'vitest';
import type { Valuation, TokenProfile } from '#domain/asset/valuation.ts';
import { usdValueOf } from '#domain/asset/valuation.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { movementsOf } from '#domain/asset/movement.ts';
import type { Price } from '#domain/asset/price.ts';
import type { KnownCounterparties } from '#domain/activity/spam.ts';
import { judge } from '#domain/activity/spam.ts';
import { amount, NO_COUNTERPARTIES } from '../cast.ts';

/** Covers incoming activity that the default list hides as spam, and the reason for each. */

const WALLET = '0x1111111111111111111111111111111111111111';
const BOB = '0x2222222222222222222222222222222222222222';
const CAROL = '0x5555555555555555555555555555555555555555';
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
const ETHER = '1000000000000000000';
const native = (units: string, from = BOB, to = WALLET) =>
  moved({ kind: 'native', tokenAddress: null, amount: amount(units), from, to });
const dollars = (units: string, from = BOB, to = WALLET) =>
  moved({ tokenAddress: DOLLAR, amount: amount(units), from, to });
const collectible = moved({ kind: 'erc721', tokenId: '9', amount: amount('1') });

const knowing: KnownCounterparties = {
  ...NO_COUNTERPARTIES,
  isLookalike: (address) => address === POISONER,
  hasSent: (token) => token === MEME,
};
const sender: KnownCounterparties = { ...NO_COUNTERPARTIES, hasSent: (token) => token === MEME };
const wary: KnownCounterparties = { ...NO_COUNTERPARTIES, isLookalike: (address) => address === POISONER };

/** The address book has bob, who signs each transaction, or carol, who signs none. */
const friendly: KnownCounterparties = { ...NO_COUNTERPARTIES, isNamed: (address) => address === BOB };
const friend: KnownCounterparties = { ...NO_COUNTERPARTIES, isNamed: (address) => address === CAROL };
const holder: KnownCounterparties = { ...NO_COUNTERPARTIES, isShown: (token) => token === MEME };
const unread = facts({ symbol: null, decimals: null, price: UNREACHABLE });

type Story = [
  name: string,
  movements: readonly ChainMovement[],
  valuation: Valuation,
  acquaintance: KnownCounterparties,
  expected: string | null,
];
const crowd = Array.from({ length: 21 }, (_, i) => moved({ to: `0x${String(i).padStart(40, '0')}` }));

test.each<Story>([
  ['half a cent of ether', [native('2000000000000')], valued([]), NO_COUNTERPARTIES, null],
  ['less than half a cent of ether', [native('1999999999999')], valued([]), NO_COUNTERPARTIES, 'LOW_VALUE'],
  ['a single wei', [native('1')], valued([]), NO_COUNTERPARTIES, 'LOW_VALUE'],
  [
    'a billionth of the native unit, without a source',
    [native('1000000000')],
    valued([], NONE),
    NO_COUNTERPARTIES,
    'LOW_VALUE',
  ],
  ['more than it, without a source', [native('1000000001')], valued([], NONE), NO_COUNTERPARTIES, null],
  ['a wei while the source is unreachable', [native('1')], valued([], UNREACHABLE), NO_COUNTERPARTIES, 'LOW_VALUE'],
  ['ether that comes and goes', [native(ETHER), native(ETHER, WALLET, BOB)], valued([], NONE), NO_COUNTERPARTIES, null],
  ['a transfer of nothing', [dollars('0', WALLET)], valued([dollar()]), NO_COUNTERPARTIES, 'ZERO_VALUE'],
  ['nothing of this and something of that', [dollars('0'), native(ETHER)], valued([dollar()]), NO_COUNTERPARTIES, null],
  ['nothing of this and dust of that', [dollars('0'), native('1')], valued([dollar()]), NO_COUNTERPARTIES, 'LOW_VALUE'],
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
  ['a collectible of a stranger', [collectible], valued([facts()]), NO_COUNTERPARTIES, 'UNKNOWN_TOKEN'],
  ['the same without a source', [collectible], valued([facts({ price: NONE })]), NO_COUNTERPARTIES, 'UNKNOWN_TOKEN'],
  ['one of a collection that the vault has sent', [collectible], valued([facts()]), sender, null],
  ['one from the address book', [collectible], valued([facts()]), friendly, null],
  ['an unpriced token from the address book', [moved({})], valued([facts()]), friendly, null],
  ['many of it for many, from the address book', [moved({}), ...crowd], valued([facts()]), friendly, null],
  ['bait from the address book', [moved({})], valued([facts({ hasPhishingText: true })]), friendly, 'BAIT'],
  ['an imitation from the address book', [moved({})], valued([facts({ imitates: 'USDC' })]), friendly, 'FAKE_TOKEN'],
  [
    'a log that forges a sender of the address book',
    [moved({ from: CAROL })],
    valued([facts()]),
    friend,
    'UNKNOWN_TOKEN',
  ],
  ['a token that leaves the balances', [moved({ from: WALLET, to: BOB })], valued([facts()]), holder, null],
  ['a token that joins the balances', [moved({})], valued([facts()]), holder, 'UNKNOWN_TOKEN'],
  [
    'a token that leaves no balance',
    [moved({ from: WALLET, to: BOB })],
    valued([facts()]),
    NO_COUNTERPARTIES,
    'UNKNOWN_TOKEN',
  ],
  [
    'a token without a symbol',
    [moved({})],
    valued([facts({ price: NONE, symbol: null })]),
    NO_COUNTERPARTIES,
    'UNKNOWN_TOKEN',
  ],
  [
    'a token of Solana without a symbol',
    [moved({ kind: 'spl' })],
    valued([facts({ price: NONE, symbol: null })]),
    NO_COUNTERPARTIES,
    null,
  ],
  ['a token whose contract cannot be read', [moved({})], valued([unread]), NO_COUNTERPARTIES, 'UNKNOWN_TOKEN'],
  ['the same from the address book', [moved({})], valued([unread]), friendly, null],
  ['a token that was not valued', [moved({})], valued([], NONE), NO_COUNTERPARTIES, 'UNKNOWN_TOKEN'],
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
    'BAIT',
  ],
  ['dust from an address that imitates a known one', [native('1', POISONER)], valued([]), wary, 'LOOKALIKE'],
  ['dust to one, in the vault’s name', [moved({ from: WALLET, to: POISONER })], valued([facts()]), wary, 'LOOKALIKE'],
  ['half a cent from one', [dollars('5000', POISONER)], valued([dollar()]), wary, 'LOOKALIKE'],
  ['a whole dollar from one', [dollars('1000000', POISONER)], valued([dollar()]), wary, null],
  ['a native amount from one, without a source', [native('1', POISONER)], valued([], NONE), wary, 'LOOKALIKE'],
  ['dust from a known address', [native('1')], valued([]), knowing, 'LOW_VALUE'],
])('%s', (_name, movements, valuation, acquaintance, expected) => {
  const { changes } = movementsOf(WALLET, movements, { tokens: [] });
  const suspect = { wallet: WALLET, signer: BOB, movements, changes };
  expect(judge(suspect, valuation, acquaintance).reason).toBe(expected);
});

const bait = facts({ hasPhishingText: true });
const given = native(ETHER, WALLET, BOB);
const crumb = native('1', WALLET, BOB);

test.each<[string, readonly ChainMovement[], Valuation, KnownCounterparties, readonly string[]]>([
  ['bait beside a dollar', [moved({}), dollars('1000000')], valued([bait, dollar()]), NO_COUNTERPARTIES, ['BAIT']],
  ['dust beside a dollar', [native('1'), dollars('1000000')], valued([dollar()]), NO_COUNTERPARTIES, ['LOW_VALUE']],
  [
    'a transfer of nothing beside ether',
    [moved({ amount: amount('0') }), native(ETHER)],
    valued([facts()]),
    NO_COUNTERPARTIES,
    ['ZERO_VALUE'],
  ],
  ['dust of a poisoner beside ether', [dollars('1', POISONER), native(ETHER)], valued([dollar()]), wary, ['LOOKALIKE']],
  [
    'a little of each of two tokens',
    [dollars('4999'), moved({ amount: amount('4999') })],
    valued([dollar(), facts({ price: ONE })]),
    NO_COUNTERPARTIES,
    ['LOW_VALUE', 'LOW_VALUE'],
  ],
  ['an unpriced token for ether', [moved({}), given], valued([facts()]), NO_COUNTERPARTIES, []],
  [
    'a collectible for a dollar',
    [collectible, dollars('1000000', WALLET, BOB)],
    valued([facts(), dollar()]),
    NO_COUNTERPARTIES,
    [],
  ],
  ['bait for ether', [moved({}), given], valued([bait]), NO_COUNTERPARTIES, ['BAIT']],
  [
    'an unpriced token for a wei',
    [moved({}), crumb],
    valued([facts()]),
    NO_COUNTERPARTIES,
    ['UNKNOWN_TOKEN', 'LOW_VALUE'],
  ],
  [
    'an unpriced token for another, which logs of a stranger state',
    [moved({}), moved({ tokenAddress: BOB, from: WALLET, to: BOB })],
    valued([facts()]),
    NO_COUNTERPARTIES,
    ['UNKNOWN_TOKEN', 'UNKNOWN_TOKEN'],
  ],
])('each asset is judged by itself: %s', (_name, movements, valuation, acquaintance, expected) => {
  const { changes } = movementsOf(WALLET, movements, { tokens: [] });
  const judgement = judge({ wallet: WALLET, signer: BOB, movements, changes }, valuation, acquaintance);
  expect(judgement.hidden.map(({ reason }) => reason)).toEqual(expected);
  const kinds = new Set(movements.map(({ tokenAddress }) => tokenAddress));
  expect([judgement.reason === null, judgement.shownMovementCount]).toEqual([
    expected.length < kinds.size,
    movements.length - expected.length,
  ]);
});

const both: KnownCounterparties = { ...wary, isShown: holder.isShown };
const stolen = crowd.map((one) => ({ ...one, from: WALLET }));

test.each<[string, readonly ChainMovement[], Valuation, KnownCounterparties]>([
  ['a listed token, without a source', [dollars('9000000', WALLET, POISONER)], valued([dollar(NONE)]), wary],
  ['one whose source is unreachable', [dollars('1', WALLET, POISONER)], valued([dollar(UNREACHABLE)]), wary],
  ['less than a dollar of it', [dollars('990000', WALLET, POISONER)], valued([dollar()]), wary],
  ['ether, without a source', [native(ETHER, WALLET, POISONER)], valued([], NONE), wary],
  ['a token that the vault has sent', [moved({ from: WALLET, to: POISONER })], valued([facts()]), knowing],
  ['a token of the default balances', [moved({ from: WALLET, to: POISONER })], valued([facts()]), both],
  ['such a token, to many recipients at once', stolen, valued([facts()]), holder],
])('what leaves the wallet is a theft, and neither its recipient nor their number hides it: %s', (...story) => {
  const [, movements, valuation, acquaintance] = story;
  const { changes } = movementsOf(WALLET, movements, { tokens: [] });
  expect(judge({ wallet: WALLET, signer: BOB, movements, changes }, valuation, acquaintance).hidden).toEqual([]);
});

test.each([
  ['nothing to the recipient', dollars('0', WALLET, POISONER), null],
  ['dust from the recipient', dollars('1', POISONER), null],
  ['a transfer of the recipient alone', dollars('1', POISONER), 'LOOKALIKE'],
])('a stranger does not hide a payment without a price by adding to its transaction: %s', (_name, added, expected) => {
  const movements = expected === null ? [dollars('9000000'), added] : [added];
  const { changes } = movementsOf(WALLET, movements, { tokens: [] });
  const suspect = { wallet: WALLET, signer: BOB, movements, changes };
  expect(judge(suspect, valued([dollar(NONE)]), wary).reason).toBe(expected);
});

test('a token beyond the limit of a record is hidden, and the vault reads nothing about it', () => {
  const movements = Array.from({ length: 300 }, (_, i) => moved({ tokenAddress: `0x${String(i).padStart(40, '0')}` }));
  const { changes } = movementsOf(WALLET, movements, { tokens: [] });
  const read: string[] = [];
  const hasSent = (token: string) => read.push(token) > 0;
  const suspect = { wallet: WALLET, signer: BOB, movements, changes };
  const { hidden, shownMovementCount } = judge(suspect, valued([]), { ...NO_COUNTERPARTIES, hasSent });
  expect([hidden.length, shownMovementCount, read.length]).toEqual([200, 100, 100]);
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

test('a token that the policy names is shown, and one that looks like it is hidden', () => {
  const profile = facts({ price: { state: 'unpriced' }, symbol: 'ACME' });
  const movements = [moved({})];
  const suspect = { wallet: WALLET, signer: BOB, ...movementsOf(WALLET, movements, { tokens: [] }) };
  const reasonFor = (known: Partial<KnownCounterparties>) =>
    judge(suspect, valued([profile]), { ...NO_COUNTERPARTIES, ...known }).reason;
  expect(reasonFor({})).toBe(null);
  expect(reasonFor({ imitatesAdopted: (symbol) => symbol === 'ACME' })).toBe('FAKE_TOKEN');
  expect(reasonFor({ imitatesAdopted: () => true, hasAdopted: () => true })).toBe(null);
});
