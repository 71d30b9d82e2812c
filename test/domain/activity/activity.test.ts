import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Activity, ChainTransaction } from '#domain/activity/activity.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { newActivity, isWatched, updatedActivity, viewFor } from '#domain/activity/activity.ts';
import { newTransactionId } from '#domain/id.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { amount, NO_COUNTERPARTIES, NOON_MS, UNPRICED, vaultId } from '../cast.ts';

const WALLET = '0x1111111111111111111111111111111111111111';
const anvil = findChain(chainsFrom({}), 'anvil') as Chain;
const BOB = '0x2222222222222222222222222222222222222222';
const DOLLAR = '0x3333333333333333333333333333333333333333';
const NFT = '0x4444444444444444444444444444444444444444';

const movement = (differences: Partial<ChainMovement>): ChainMovement => ({
  uid: 'top',
  kind: 'native',
  from: BOB,
  to: WALLET,
  tokenAddress: null,
  tokenId: null,
  amount: amount('5000000000'),
  ...differences,
});
const seen = (movements: readonly ChainMovement[], differences: Partial<ChainTransaction> = {}): ChainTransaction => ({
  hash: '0xaa',
  signer: BOB,
  fee: amount('1'),
  block: { number: '7', hash: '0xb7', confirmations: 1, isFinal: false },
  movements,
  ...differences,
});

const cameNative = movement({});
const wentNative = movement({ from: WALLET, to: BOB });
const cameDollar = movement({ uid: 'log:1', kind: 'erc20', tokenAddress: DOLLAR });
const wentDollar = movement({ uid: 'log:2', kind: 'erc20', tokenAddress: DOLLAR, from: WALLET, to: BOB });
const cameNft = movement({ uid: 'log:3', kind: 'erc721', tokenAddress: NFT, tokenId: '9', amount: amount('1') });
const wentNft = movement({ ...cameNft, from: WALLET, to: BOB });
const mintedNft = movement({ ...cameNft, from: null });
const mintedDollar = movement({ ...cameDollar, from: null });
const elsewhere = movement({ uid: 'log:8', from: BOB, to: DOLLAR });

test.each<[string, readonly ChainMovement[], string, string | undefined, 'in' | 'out']>([
  ['money that comes', [cameNative], BOB, 'RECEIVED', 'in'],
  ['tokens that come', [cameDollar, elsewhere], BOB, 'RECEIVED', 'in'],
  ['money that another account moves by an allowance', [wentDollar], BOB, 'SENT', 'out'],
  ['money that the wallet sends by itself', [wentNative], WALLET, 'SENT', 'out'],
  ['tokens for money', [wentNative, cameDollar], WALLET, 'BOUGHT', 'out'],
  ['money for tokens', [wentDollar, cameNative], WALLET, 'SOLD', 'out'],
  ['tokens for tokens', [wentDollar, cameNft], WALLET, 'TRADED', 'out'],
  [
    'a token for another of the same collection',
    [wentNft, movement({ ...cameNft, tokenId: '10' })],
    WALLET,
    'TRADED',
    'out',
  ],
  ['a collectible that a stranger makes for the wallet', [mintedNft], BOB, 'RECEIVED', 'in'],
  ['a collectible that the wallet makes', [mintedNft], WALLET, 'MINTED', 'in'],
  ['a collectible that another account makes for money', [mintedNft, wentDollar], BOB, 'TRADED', 'out'],
  ['a collectible made for money', [mintedNft, wentNative], WALLET, 'MINTED', 'out'],
  ['tokens made by the wallet itself', [mintedDollar], WALLET, 'MINTED', 'in'],
  ['tokens that another account mints and sends', [mintedDollar], BOB, 'RECEIVED', 'in'],
  ['equal incoming and outgoing amounts', [cameNative, wentNative], BOB, 'UNKNOWN', 'in'],
  ['a call that moves nothing', [], WALLET, 'CONTRACT_INTERACTION', 'out'],
  ['a transaction that does not concern the wallet', [elsewhere], BOB, undefined, 'in'],
])('%s', (_name, movements, signer, displayType, direction) => {
  const view = viewFor(WALLET, seen(movements, { signer }), anvil);
  expect(view?.displayType).toBe(displayType);
  if (view !== null) expect([view.direction, view.movements.includes(elsewhere)]).toEqual([direction, false]);
});

const identity = { id: newTransactionId(vaultId, NOON_MS, new Uint8Array(10)), vaultId, wallet: WALLET };
const observation = {
  valuation: UNPRICED,
  acquaintance: NO_COUNTERPARTIES,
  chain: { ...anvil, confirmations: 3 },
  nowMs: NOON_MS,
};
const block = (confirmations: number, differences: object = {}) => ({
  block: { number: '7', hash: '0xb7', confirmations, isFinal: false, ...differences },
});

function recorded(differences: Partial<ChainTransaction> = {}): Activity {
  const activity = newActivity(identity, { ...observation, seen: seen([cameNative], differences) });
  if (activity === null) throw new Error('the story begins with a payment');
  return activity;
}

test('a record is CONFIRMING until its block is deep enough, then SUCCEEDED, and is watched until it is final', () => {
  const fresh = recorded();
  expect([fresh.state, fresh.visible, isWatched(fresh)]).toEqual(['CONFIRMING', true, true]);
  const deep = updatedActivity(fresh, { ...observation, seen: seen([cameNative], block(3)) });
  expect([deep.state, deep.version, isWatched(deep)]).toEqual(['SUCCEEDED', 2, true]);
  const final = updatedActivity(deep, { ...observation, seen: seen([cameNative], block(70, { isFinal: true })) });
  expect([final.state, final.version, isWatched(final)]).toEqual(['SUCCEEDED', 3, false]);
  expect(updatedActivity(final, { ...observation, seen: null })).toBe(final);
});

test('a memo that is proven later is added, and one that a later poll does not state stays', () => {
  const fresh = recorded();
  expect(fresh.memo).toBeUndefined();
  const noted = updatedActivity(fresh, {
    ...observation,
    seen: seen([cameNative], { ...block(2), memo: 'invoice 7' }),
  });
  expect([noted.memo, noted.version]).toEqual(['invoice 7', 2]);
  expect(updatedActivity(noted, { ...observation, seen: seen([cameNative], block(2)) })).toBe(noted);
  const deep = updatedActivity(noted, { ...observation, seen: seen([cameNative], block(3)) });
  expect([deep.state, deep.memo]).toEqual(['SUCCEEDED', 'invoice 7']);
});

test('a scan that finds nothing new is no change', () => {
  const fresh = recorded();
  expect(updatedActivity(fresh, { ...observation, seen: seen([cameNative], block(2)) })).toBe(fresh);
  expect(updatedActivity(fresh, { ...observation, seen: seen([elsewhere]) })).toBe(fresh);
});

test('payments by contracts stay in the record when a later scan of the same block cannot find them', () => {
  const paidByContract = movement({ uid: 'trace:0', kind: 'internal', amount: amount('7') });
  const final = block(70, { isFinal: true });
  for (const others of [[cameDollar], []]) {
    const full = newActivity(identity, { ...observation, seen: seen([...others, paidByContract], block(3)) });
    if (full === null) throw new Error('it concerns the wallet');
    const last = updatedActivity(full, { ...observation, seen: seen(others, final) });
    expect([last.block?.isFinal, last.state, last.movementCount]).toEqual([true, 'SUCCEEDED', others.length + 1]);
    expect(last.changes).toEqual(expect.arrayContaining([...full.changes]));
    // In another block the transaction may have moved other assets.
    const moved = updatedActivity(full, { ...observation, seen: seen([cameDollar], block(3, { hash: '0xb8' })) });
    expect(moved.movementCount).toBe(1);
  }
});

test('movements that a later scan adds are a change of the record, and the newest receipt counts', () => {
  const paidByContract = movement({ uid: 'trace:0', kind: 'internal', amount: amount('7') });
  const little = newActivity(identity, { ...observation, seen: seen([cameDollar], block(3)) });
  if (little === null) throw new Error('it concerns the wallet');
  const more = updatedActivity(little, { ...observation, seen: seen([cameDollar, paidByContract], block(3)) });
  expect([more.version, more.movementCount]).toEqual([2, 2]);
  expect(updatedActivity(more, { ...observation, seen: seen([cameDollar], block(3)) })).toBe(more);
  const less = updatedActivity(more, { ...observation, seen: seen([wentDollar], block(70, { isFinal: true })) });
  expect(less.movements.map(({ uid }) => uid)).toEqual([wentDollar.uid, 'trace:0']);
});

test('a record is FAILED and hidden when its block is undone, and returns with another block', () => {
  const gone = updatedActivity(recorded(block(3)), { ...observation, seen: null });
  expect([gone.state, gone.stateReason, gone.visible, gone.hiddenReason]).toEqual([
    'FAILED',
    'REORGED',
    false,
    'REORGED',
  ]);
  expect(updatedActivity(gone, { ...observation, seen: null })).toBe(gone);
  const back = updatedActivity(gone, {
    ...observation,
    seen: seen([cameNative], block(1, { number: '8', hash: '0xc8' })),
  });
  expect([back.state, back.visible, back.hiddenReason, back.block?.number]).toEqual(['CONFIRMING', true, null, '8']);
});

const SOON_MS = NOON_MS + 1;
const LATER_MS = NOON_MS + 20 * anvil.pollIntervalMs;

test('a waiting transaction is BROADCAST without a fee, and CONFIRMING with the block that includes it', () => {
  const waiting = recorded({ block: null, fee: null });
  expect([waiting.state, waiting.visible, waiting.fee, isWatched(waiting)]).toEqual(['BROADCAST', true, null, true]);
  expect(updatedActivity(waiting, { ...observation, seen: seen([cameNative], { block: null, fee: null }) })).toBe(
    waiting,
  );
  const mined = updatedActivity(waiting, { ...observation, seen: seen([cameNative, cameDollar], block(1)) });
  expect([mined.state, mined.fee, mined.movementCount]).toEqual(['CONFIRMING', '1', 2]);
});

test('a record is valued again when its block is known, because the transaction bytes do not show all movements', () => {
  const waiting = recorded({ block: null });
  const label = { address: DOLLAR, symbol: 'USD', decimals: 6, price: UNPRICED.native.price };
  const valuation = { ...UNPRICED, tokens: [{ ...label, isListed: false, imitates: null, hasPhishingText: false }] };
  const mined = seen([cameNative, cameDollar], block(1));
  expect(updatedActivity(waiting, { ...observation, seen: mined, valuation: null })).toBe(waiting);
  const { tokens } = updatedActivity(waiting, { ...observation, seen: mined, valuation });
  expect([waiting.tokens, tokens]).toEqual([[], [{ address: DOLLAR, symbol: 'USD', decimals: 6 }]]);
});

test('a waiting transaction that is not found ends after a while, and only a block restores it', () => {
  const waiting = recorded({ block: null });
  expect(updatedActivity(waiting, { ...observation, seen: null, nowMs: SOON_MS })).toBe(waiting);
  const gone = updatedActivity(waiting, { ...observation, seen: null, nowMs: LATER_MS });
  expect([gone.state, gone.stateReason, gone.hiddenReason, gone.visible, isWatched(gone)]).toEqual([
    'FAILED',
    'DROPPED',
    'DROPPED',
    false,
    false,
  ]);
  expect(updatedActivity(gone, { ...observation, seen: seen([cameNative], { block: null }) })).toBe(gone);
  expect(updatedActivity(gone, { ...observation, seen: seen([cameNative], block(3)) }).state).toBe('SUCCEEDED');
});

test('a late report of a waiting transaction does not change what its block has shown', () => {
  const mined = recorded();
  expect(updatedActivity(mined, { ...observation, seen: seen([cameNative], { block: null }) })).toBe(mined);
});

test('the visibility that a person chose stays, whatever the spam rules find later', () => {
  const chosen: Activity = { ...recorded(), visibilityChoice: true };
  expect(updatedActivity(chosen, { ...observation, seen: null }).visible).toBe(true);
});

test('observations in any order give one version for each change, and end with what the chain showed last', () => {
  const observations = fc.array(
    fc.option(fc.record({ confirmations: fc.integer({ min: 1, max: 5 }), hash: fc.constantFrom('0xb7', '0xc7') })),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(observations, (all) => {
      let activity = recorded();
      let changes = 1;
      for (const one of all) {
        const next = updatedActivity(activity, {
          ...observation,
          seen: one === null ? null : seen([cameNative], block(one.confirmations, one)),
        });
        if (next !== activity) changes += 1;
        activity = next;
      }
      expect(activity.version).toBe(changes);
      const last = all.at(-1);
      if (last === undefined) return;
      const expected = last === null ? 'FAILED' : last.confirmations >= 3 ? 'SUCCEEDED' : 'CONFIRMING';
      expect(activity.state).toBe(expected);
    }),
  );
});
