import { expect, test } from 'vitest';
import type { Activity, ChainTransaction } from '#domain/activity/activity.ts';
import { newActivity, isWatched, updatedActivity } from '#domain/activity/activity.ts';
import type { Valuation, TokenProfile } from '#domain/asset/valuation.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Price } from '#domain/asset/price.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { amount, NO_COUNTERPARTIES, NOON_MS, UNPRICED, vaultId } from '../cast.ts';

/**
 * Covers when a record is valued: when it is first observed, and again only while a source that may
 * know its value is unreachable.
 */

const WALLET = '0x1111111111111111111111111111111111111111';
const BOB = '0x2222222222222222222222222222222222222222';
const MEME = '0x4444444444444444444444444444444444444444';
const anvil = findChain(chainsFrom({}), 'anvil') as Chain;
const DAY_MS = 24 * 60 * 60 * 1000;

const facts = (price: Price, differences: Partial<TokenProfile> = {}): Valuation => ({
  native: { price: { state: 'unknown' }, decimals: 18 },
  tokens: [
    {
      address: MEME,
      symbol: 'MEME',
      decimals: 6,
      price,
      isListed: false,
      imitates: null,
      hasPhishingText: false,
      ...differences,
    },
  ],
});
const unreachable = facts({ state: 'unavailable' });
const unknown = facts({ state: 'unknown' });
const priced = (usdE12: string) => facts({ state: 'known', usdE12, atMs: NOON_MS });

const seen = (isFinal = false, hash = '0xb7'): ChainTransaction => ({
  hash: '0xaa',
  signer: BOB,
  fee: amount('1'),
  block: { number: '7', hash, confirmations: isFinal ? 70 : 1, isFinal },
  movements: [
    {
      uid: 'log:1',
      kind: 'erc20',
      from: BOB,
      to: WALLET,
      tokenAddress: MEME,
      tokenId: null,
      amount: amount('1000000'),
    },
  ],
});
const observation = { valuation: null, acquaintance: NO_COUNTERPARTIES, chain: anvil, nowMs: NOON_MS };
const identity = { id: newTransactionId(vaultId, NOON_MS, new Uint8Array(10)), vaultId, wallet: WALLET };

function recorded(valuation: Valuation, isFinal = false): Activity {
  const activity = newActivity(identity, { ...observation, seen: seen(isFinal), valuation });
  if (activity === null) throw new Error('the story begins with tokens');
  return activity;
}
const judged = ({ visible, hiddenReason, usdValue, appraisalPending }: Activity) => [
  visible,
  hiddenReason,
  usdValue?.usd ?? null,
  appraisalPending,
];

test('a record is shown while a price source is unreachable, and valued when the source is reachable again', () => {
  const fresh = recorded(unreachable);
  expect(judged(fresh)).toEqual([true, null, null, true]);
  const still = updatedActivity(fresh, { ...observation, seen: seen(), valuation: unreachable });
  expect(still).toBe(fresh);
  const known = updatedActivity(fresh, { ...observation, seen: seen(), valuation: unknown });
  expect([judged(known), known.version]).toEqual([[false, 'UNKNOWN_TOKEN', null, false], 2]);
});

test('a final record is valued once the source is reachable again, and nothing else in it changes', () => {
  const fresh = recorded(unreachable, true);
  expect(isWatched(fresh)).toBe(true);
  const known = updatedActivity(fresh, { ...observation, seen: seen(false, '0xc7'), valuation: priced('4999') });
  expect(judged(known)).toEqual([false, 'LOW_VALUE', '0.00', false]);
  expect([known.block, isWatched(known)]).toEqual([fresh.block, false]);
});

test('a record no longer waits for a source that is unreachable for a day', () => {
  const given = updatedActivity(recorded(unreachable, true), {
    ...observation,
    seen: seen(true),
    valuation: unreachable,
    nowMs: NOON_MS + DAY_MS + 1,
  });
  expect([judged(given), isWatched(given)]).toEqual([[true, null, null, false], false]);
});

test('later prices change nothing', () => {
  const first = recorded(priced('1000000000000'));
  expect(judged(first)).toEqual([true, null, '1.00', false]);
  const later = updatedActivity(first, { ...observation, seen: seen(true), valuation: priced('1') });
  expect(judged(later)).toEqual([true, null, '1.00', false]);
});

test('a record that a spam rule hid stays hidden when a reorganisation moves it to another block', () => {
  const hidden = recorded(facts({ state: 'unpriced' }, { hasPhishingText: true }));
  const gone = updatedActivity(hidden, { ...observation, seen: null });
  expect([hidden.hiddenReason, gone.hiddenReason]).toEqual(['BAIT', 'REORGED']);
  const back = updatedActivity(gone, { ...observation, seen: seen(false, '0xc8') });
  expect([back.state, back.hiddenReason, back.visible]).toEqual(['SUCCEEDED', 'BAIT', false]);
});

test('the visibility that a person chose stays, whatever a source reports when it is reachable again', () => {
  const chosen: Activity = { ...recorded(unreachable), visibilityChoice: true };
  const known = updatedActivity(chosen, { ...observation, seen: seen(), valuation: unknown });
  expect([known.hiddenReason, known.visible]).toEqual(['UNKNOWN_TOKEN', true]);
});

test('without a price source no readable token is hidden for its value, and no record waits for a valuation', () => {
  expect(judged(recorded(facts({ state: 'unpriced' })))).toEqual([true, null, null, false]);
  expect(judged(recorded(UNPRICED))).toEqual([false, 'UNKNOWN_TOKEN', null, false]);
});

test('a token whose contract cannot be read is hidden, and shown once its name and price are known', () => {
  const unread = recorded(facts({ state: 'unavailable' }, { symbol: null, decimals: null }), true);
  expect([judged(unread), isWatched(unread)]).toEqual([[false, 'UNKNOWN_TOKEN', null, true], true]);
  const read = updatedActivity(unread, { ...observation, seen: seen(true), valuation: priced('1000000000000') });
  expect([judged(read), read.hiddenPart]).toEqual([[true, null, '1.00', false], null]);
  const given = { ...observation, seen: seen(true), valuation: null, nowMs: NOON_MS + DAY_MS + 1 };
  expect(judged(updatedActivity(unread, given))).toEqual([false, 'UNKNOWN_TOKEN', null, false]);
});

test('a transaction that the wallet signed itself is not spam', () => {
  const own = newActivity(identity, { ...observation, seen: { ...seen(), signer: WALLET }, valuation: unknown });
  expect([own?.visible, own?.hiddenReason]).toEqual([true, null]);
});

test('the tokens of a record carry their own names', () => {
  expect(recorded(unknown).tokens).toEqual([{ address: MEME, symbol: 'MEME', decimals: 6 }]);
});
