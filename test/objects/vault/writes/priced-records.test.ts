import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import type { Price } from '#domain/asset/price.ts';
import type { Valuation } from '#domain/asset/valuation.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { recordActivity } from '#objects/vault/commands/activity.ts';
import { recordPrices } from '#objects/vault/commands/balance.ts';
import { present } from '../../../chains/evm/cast.ts';
import { NOON_MS } from '../../../domain/cast.ts';
import { BOB, newVaultScene, WALLET } from '../vault-scene.ts';

/** Covers records that one wrong price hid as low value. */

const DOLLAR = '0x4444444444444444444444444444444444444444';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => void vi.useRealTimers());

const usd = (usdE12: bigint): Price => ({ state: 'known', usdE12: usdE12.toString(), atMs: NOON_MS });
const FAIR = usd(10n ** 12n);
const TINY = usd(1n);

/** The native asset and a listed token have the same price and decimals here. */
const at = (price: Price): Valuation => ({
  native: { price, decimals: 6 },
  tokens: [
    { address: DOLLAR, symbol: 'USDC', decimals: 6, price, isListed: true, imitates: null, hasPhishingText: false },
  ],
});

function newScene() {
  const { storage, host } = newVaultScene();
  storage.balances.open({ chain: 'anvil', ...NATIVE }, true);
  let made = 0;
  return {
    receives: async (dollars: bigint, tokenAddress: string | null = DOLLAR) => {
      const hash = `0x${(made += 1)}`;
      const kind = tokenAddress === null ? ('native' as const) : ('erc20' as const);
      const amount = amountOf(dollars * 1_000_000n);
      const movement = { uid: 'log:0', kind, from: BOB, to: WALLET, tokenAddress, tokenId: null, amount };
      const block = { number: '7', hash: '0xb7', confirmations: 90, isFinal: true };
      const seen = { hash, signer: BOB, fee: amountOf(1n), block, movements: [movement] };
      await recordActivity(host, { chain: 'anvil', hash, seen, valuation: at(TINY) });
      return () => present(storage.activities.ofHash('anvil', hash));
    },
    compares: (price: Price) => recordPrices(host, { chain: 'anvil', valuation: at(price) }),
    judgements: () => storage.history.after(0, 1_000).filter(({ action }) => action === 'judge').length,
  };
}

test('a payment that one wrong price hid is shown after a comparison with the right one', async () => {
  const { receives, compares, judgements } = newScene();
  const records = [await receives(250_000n), await receives(3n, null)];
  expect(records.map((record) => [record().visible, record().hiddenReason])).toEqual([
    [false, 'LOW_VALUE'],
    [false, 'LOW_VALUE'],
  ]);
  await compares(TINY);
  for (const state of ['unknown', 'unavailable', 'unpriced'] as const) await compares({ state });
  await compares(usd(0n));
  expect(records.map((record) => record().visible)).toEqual([false, false]);
  await compares(FAIR);
  expect(records.map((record) => [record().visible, record().hiddenReason])).toEqual([
    [true, null],
    [true, null],
  ]);
  await compares(FAIR);
  expect(judgements()).toBe(2);
});

test('a value below a dollar stays hidden, and so does what another rule hides', async () => {
  const { receives, compares } = newScene();
  const small = await receives(1n);
  await compares(usd(999_999_999_999n));
  expect(small().visible).toBe(false);
  await compares(FAIR);
  expect(small().visible).toBe(true);
  const nothing = await receives(0n);
  await compares(FAIR);
  expect(nothing().hiddenReason).toBe('ZERO_VALUE');
});

test('a comparison reads the newest of many records, and later ones go on with the rest', async () => {
  const { receives, compares, judgements } = newScene();
  for (let i = 0; i < 25; i++) await receives(5n);
  await compares(FAIR);
  expect(judgements()).toBe(20);
  await compares(FAIR);
  expect(judgements()).toBe(25);
});
