import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Activity, ChainTransaction } from '#domain/activity/activity.ts';
import { newActivity, shown, updatedActivity } from '#domain/activity/activity.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { assetKey, movementsOf } from '#domain/asset/movement.ts';
import { notificationOfActivity } from '#domain/activity/notification.ts';
import { shownPart, showsAsset } from '#domain/activity/shown-part.ts';
import type { KnownCounterparties } from '#domain/activity/spam.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Price } from '#domain/asset/price.ts';
import { MIN_SHOWN_VALUE } from '#domain/asset/price.ts';
import type { TokenProfile, Valuation } from '#domain/asset/valuation.ts';
import { marketValueOf } from '#domain/asset/valuation.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { alice, amount, NO_COUNTERPARTIES, NOON_MS, policy, vaultId } from '../cast.ts';

/** Covers records of which a rule hides some assets and shows the others. */

const WALLET = '0x1111111111111111111111111111111111111111';
const BOB = '0x2222222222222222222222222222222222222222';
const USDC = '0x3333333333333333333333333333333333333333';
const MEME = '0x4444444444444444444444444444444444444444';
const NFT = '0x5555555555555555555555555555555555555555';
const ETHER = '1000000000000000000';

const usdc = { address: USDC, symbol: 'USDC', decimals: 6, isCash: true };
const anvil: Chain = { ...(findChain(chainsFrom({}), 'anvil') as Chain), tokens: [usdc] };
const at = (usdE12: string): Price => ({ state: 'known', usdE12, atMs: 7 });
const facts = (address: string, differences: Partial<TokenProfile> = {}): TokenProfile => ({
  address,
  symbol: 'VISIT prize.com',
  decimals: 6,
  price: { state: 'unknown' },
  isListed: false,
  imitates: null,
  hasPhishingText: false,
  ...differences,
});
const dollar = facts(USDC, { symbol: 'USDC', isListed: true, price: at('1000000000000') });
const bait = facts(MEME, { hasPhishingText: true });
const valued = (tokens: readonly TokenProfile[]): Valuation => ({
  native: { price: at('2500000000000000'), decimals: 18 },
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
const native = (units: string) => moved({ kind: 'native', tokenAddress: null, amount: amount(units) });
const dollars = (units: string) => moved({ tokenAddress: USDC, amount: amount(units) });
const collectible = moved({ kind: 'erc721', tokenAddress: NFT, tokenId: '9', from: null, amount: amount('1') });

const seen = (movements: readonly ChainMovement[], differences: Partial<ChainTransaction> = {}): ChainTransaction => ({
  hash: '0xaa',
  signer: BOB,
  fee: amount('1'),
  block: { number: '7', hash: '0xb7', confirmations: 1, isFinal: false },
  movements,
  ...differences,
});
const observation = { acquaintance: NO_COUNTERPARTIES, chain: anvil, nowMs: NOON_MS };
const identity = { id: newTransactionId(vaultId, NOON_MS, new Uint8Array(10)), vaultId, wallet: WALLET };

function recorded(transaction: ChainTransaction, valuation: Valuation, acquaintance = NO_COUNTERPARTIES): Activity {
  const activity = newActivity(identity, { ...observation, acquaintance, seen: transaction, valuation });
  if (activity === null) throw new Error('it concerns the wallet');
  return activity;
}
const vault = {
  configuration: { name: 'Treasury' },
  members: [{ userId: alice.userId, roles: ['signer'] }],
  policy,
  invitations: [],
} as unknown as Vault;
const bodyOf = (activity: Activity) => notificationOfActivity(activity, vault, anvil)?.body ?? null;
const amounts = (activity: Activity) => shownPart(activity).changes.map(({ units }) => units);

test('bait with a wei is hidden as a whole, and no member is notified', () => {
  const activity = recorded(seen([moved({}), native('1')]), valued([bait]));
  expect([activity.visible, activity.hiddenReason, bodyOf(activity)]).toEqual([false, 'BAIT', null]);
  expect([MEME, null].map((tokenAddress) => showsAsset(activity, { tokenAddress }))).toEqual([false, false]);
  // Who lists hidden records reads everything.
  expect([amounts(activity), shownPart(activity).hiddenChanges]).toEqual([['1', '1000000'], []]);
});

test('bait beside a payment is in no amount, value, type or notification, and stays reachable', () => {
  const trade = [moved({ from: WALLET, to: BOB }), collectible, native('1'), dollars('2500000')];
  const activity = recorded(seen(trade), valued([bait, facts(NFT), dollar]));
  expect([activity.visible, activity.hiddenReason]).toEqual([true, null]);
  expect([activity.displayType, activity.direction, bodyOf(activity)]).toEqual(['RECEIVED', 'in', '2.5 USDC on anvil']);
  const part = shownPart(activity);
  expect([amounts(activity), part.movementCount, part.movements.length, part.usdValue?.usd]).toEqual([
    ['2500000'],
    1,
    1,
    '2.50',
  ]);
  expect(part.hiddenChanges.map(({ tokenAddress, reason }) => [tokenAddress, reason])).toEqual([
    [null, 'LOW_VALUE'],
    [MEME, 'BAIT'],
    [NFT, 'UNKNOWN_TOKEN'],
  ]);
  // The ledger posts every change.
  expect(activity.changes).toHaveLength(4);
  expect([USDC, MEME, NFT].map((tokenAddress) => showsAsset(activity, { tokenAddress }))).toEqual([true, false, false]);
});

test('a record that a member shows has all of its assets, and one that a member hides shows none', () => {
  const activity = recorded(seen([moved({}), dollars('2500000')]), valued([bait, dollar]));
  const chosen = shown({ ...activity, visibilityChoice: true });
  expect([amounts(chosen), shownPart(chosen).hiddenChanges, shownPart(chosen).movementCount]).toEqual([
    ['2500000', '1000000'],
    [],
    2,
  ]);
  expect([shownPart(chosen).usdValue, showsAsset(chosen, { tokenAddress: MEME })]).toEqual([null, true]);
  const hidden = shown({ ...activity, visibilityChoice: false });
  expect([hidden.visible, showsAsset(hidden, { tokenAddress: USDC })]).toEqual([false, false]);
});

test('a record of release 0.2.0 shows all that it showed before', () => {
  const { hiddenPart: _, ...before } = recorded(seen([moved({}), dollars('2500000')]), valued([bait, dollar]));
  const old = shown({ ...before, displayType: 'MINTED' });
  expect([amounts(old), old.displayType, shownPart(old).hiddenChanges]).toEqual([['2500000', '1000000'], 'MINTED', []]);
  expect(showsAsset(old, { tokenAddress: MEME })).toBe(true);
  const spam = shown({ ...before, suspicion: 'BAIT' });
  expect([spam.visible, showsAsset(spam, { tokenAddress: USDC })]).toEqual([false, false]);
});

test('a transaction of the wallet itself shows all of its assets', () => {
  const activity = recorded(seen([moved({}), native('1')], { signer: WALLET }), valued([bait]));
  expect([activity.visible, activity.hiddenPart, amounts(activity)]).toEqual([true, null, ['1', '1000000']]);
});

test('a payment that becomes known beside dust is shown, and is valued at the next poll', () => {
  const dust = recorded(seen([native('1')]), valued([]));
  expect(dust.hiddenReason).toBe('LOW_VALUE');
  const internal = moved({ kind: 'internal', tokenAddress: null, amount: amount(ETHER) });
  const later = { ...observation, seen: seen([native('1'), internal]), valuation: null };
  const paid = updatedActivity(dust, later);
  expect([paid.visible, paid.hiddenPart, paid.appraisalPending]).toEqual([true, null, true]);
  const priced = updatedActivity(paid, { ...later, valuation: valued([]) });
  expect([priced.visible, priced.usdValue?.usd, priced.appraisalPending]).toEqual([true, '2500.00', false]);
});

test('a token that another block adds to a payment is hidden before any source is called', () => {
  const paid = recorded(seen([dollars('2500000')]), valued([dollar]));
  const moment = { ...observation, valuation: null };
  const block = { number: '8', hash: '0xb8', confirmations: 1, isFinal: false };
  const again = updatedActivity(paid, { ...moment, seen: seen([dollars('2500000'), moved({})], { block }) });
  expect([again.visible, amounts(again), again.appraisalPending]).toEqual([true, ['2500000'], true]);
  expect(shownPart(again).hiddenChanges.map(({ reason }) => reason)).toEqual(['UNKNOWN_TOKEN']);
});

test('a listed token behind a hundred and one tokens of a stranger is booked and shown', () => {
  const junk = Array.from({ length: 101 }, (_, i) => moved({ tokenAddress: `0x${String(i).padStart(40, '0')}` }));
  const activity = recorded(seen([...junk, dollars('2500000')]), valued([dollar]));
  expect([activity.visible, amounts(activity), shownPart(activity).movementCount]).toEqual([true, ['2500000'], 1]);
  expect([shownPart(activity).movements.length, shownPart(activity).hiddenChanges.length]).toEqual([1, 99]);
});

test('a collectible of the default balances is shown as lost behind a hundred and one tokens of the thief', () => {
  const junk = Array.from({ length: 101 }, (_, i) => moved({ tokenAddress: `0x${String(i).padStart(40, '0')}` }));
  const theft = seen([...junk, { ...collectible, from: WALLET, to: BOB }]);
  const holder = { ...NO_COUNTERPARTIES, isShown: (token: string) => token === NFT, shownTokens: () => new Set([NFT]) };
  const activity = recorded(theft, valued([]), holder);
  expect([activity.visible, activity.direction, amounts(activity)]).toEqual([true, 'out', ['-1']]);
  expect([bodyOf(activity), shownPart(activity).movements.length]).toEqual(['A collectible on anvil', 1]);
  const block = { number: '8', hash: '0xb8', confirmations: 1, isFinal: false };
  const moment = { ...observation, acquaintance: holder, valuation: null };
  const again = updatedActivity(activity, { ...moment, seen: { ...theft, block } });
  expect([again.visible, again.block, amounts(again)]).toEqual([true, block, ['-1']]);
  // A collection that the vault does not have gains nothing by that.
  expect(recorded(theft, valued([])).hiddenReason).toBe('UNKNOWN_TOKEN');
});

test('a collectible that its contract no longer names at a later poll of the block stays one', () => {
  const plain = moved({ uid: 'log:9', tokenAddress: NFT, amount: amount('640000') });
  const named: ChainMovement = { ...plain, kind: 'erc721', tokenId: '640000', amount: amount('1') };
  const sender = { ...observation, valuation: null, acquaintance: { ...NO_COUNTERPARTIES, hasSent: () => true } };
  const first = recorded(seen([named]), valued([facts(NFT)]), sender.acquaintance);
  const final = { number: '7', hash: '0xb7', confirmations: 90, isFinal: true };
  const later = updatedActivity(first, { ...sender, seen: seen([plain], { block: final }) });
  expect([later.block?.isFinal, later.changes]).toEqual([true, first.changes]);
  expect(later.movements).toEqual([named]);
  // Another block, another amount or a contract that names it only later count as they are read.
  const moved2 = updatedActivity(first, { ...sender, seen: seen([plain], { block: { ...final, hash: '0xb8' } }) });
  expect(moved2.movements).toEqual([plain]);
  const other = { ...plain, amount: amount('640001') };
  expect(updatedActivity(first, { ...sender, seen: seen([other], { block: final }) }).movements).toEqual([other]);
  const unnamed = recorded(seen([plain]), valued([facts(NFT)]), sender.acquaintance);
  expect(updatedActivity(unnamed, { ...sender, seen: seen([named], { block: final }) }).movements).toEqual([named]);
});

/** The tokens of the property, by what the vault knows of them. */
const TOKENS = Array.from({ length: 6 }, (_, i) => `0x${String(i + 1).repeat(40)}`.replace('1111', 'aaaa'));
const prices = fc.constantFrom<Price>(
  { state: 'unknown' },
  at('1'),
  at('1000000000000'),
  at('900000000000000000000000000'),
);
const profile = (address: string) =>
  fc
    .record({
      symbol: fc.constantFrom(null, 'USDC', 'VISIT'),
      decimals: fc.constantFrom(null, 0, 6, 18),
      price: prices,
      isListed: fc.boolean(),
      imitates: fc.constantFrom(null, 'USDC'),
      hasPhishingText: fc.boolean(),
    })
    .map((one): TokenProfile => ({ address, ...one }));
const amountsOfStrangers = fc.constantFrom('0', '1', '4999', '5000', ETHER, '999999999999999999999999999');
const movement = fc
  .record({
    kind: fc.constantFrom(
      'native' as const,
      'internal' as const,
      'erc20' as const,
      'erc721' as const,
      'erc1155' as const,
    ),
    token: fc.constantFrom(...TOKENS),
    from: fc.constantFrom(WALLET, BOB, NFT),
    to: fc.constantFrom(WALLET, WALLET, WALLET, BOB),
    units: amountsOfStrangers,
  })
  .map(({ kind, token, from, to, units }) => {
    const isNative = kind === 'native' || kind === 'internal';
    const tokenId = kind === 'erc721' || kind === 'erc1155' ? units : null;
    return moved({ kind, from, to, tokenId, tokenAddress: isNative ? null : token, amount: amount(units) });
  });
const hostile = fc.record({
  movements: fc.array(movement, { maxLength: 140 }),
  tokens: fc.tuple(...TOKENS.map(profile)).chain((all) => fc.subarray(all)),
  hasSent: fc.subarray(TOKENS),
  isNamed: fc.boolean(),
});

test('what is shown and what is hidden are the movements, and nothing worthless of a stranger is shown', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (story) => {
      let activity: Activity | null = null;
      for (const { movements, tokens, hasSent, isNamed } of story) {
        const acquaintance: KnownCounterparties = {
          ...NO_COUNTERPARTIES,
          hasSent: (token) => hasSent.includes(token),
          isNamed: (address) => isNamed && address === BOB,
        };
        const valuation = valued(tokens);
        const chain = {
          ...anvil,
          tokens: tokens.filter(({ isListed }) => isListed).map(({ address }) => ({ ...usdc, address })),
        };
        const moment = { ...observation, chain, acquaintance, seen: seen(movements), valuation };
        activity = newActivity(identity, moment);
        if (activity === null) continue;
        const all = movementsOf(WALLET, movements, chain);
        const part = shownPart(activity);
        const units = (changes: typeof all.changes) => changes.map((one) => `${assetKey(one)} ${one.units}`).sort();
        expect(units([...part.changes, ...part.hiddenChanges])).toEqual(units(all.changes));
        if (!activity.visible) continue;
        const ofHidden = movements.filter(({ tokenAddress, to, from }) => {
          const concerned = to === WALLET || from === WALLET;
          return concerned && activity?.hiddenPart?.assets.some((one) => one.tokenAddress === tokenAddress);
        });
        expect(part.movementCount).toBe(all.movementCount - ofHidden.length);
        if (isNamed || part.changes.some((one) => one.units.startsWith('-'))) continue;
        for (const change of part.changes.filter(({ units: net }) => net !== '0')) {
          const isKnown = change.tokenAddress !== null && hasSent.includes(change.tokenAddress);
          const isListed = tokens.some((one) => one.isListed && one.address === change.tokenAddress);
          const same = part.changes.filter(({ tokenAddress }) => tokenAddress === change.tokenAddress);
          const value = marketValueOf(same, valuation);
          if (value.state === 'known') expect(value.usdE30).toBeGreaterThanOrEqual(MIN_SHOWN_VALUE);
          else expect([isKnown, isListed]).toContain(true);
        }
      }
    }),
    { numRuns: 300 },
  );
});
