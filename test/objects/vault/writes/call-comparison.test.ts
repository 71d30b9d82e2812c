import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chainsFrom } from '#chains/families/registry.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import type { Transaction, TransactionState } from '#domain/transaction/transaction.ts';
import { reconcileWork, recordHoldings } from '#objects/vault/commands/balance.ts';
import { compareAfterCall } from '#objects/vault/writes/call-comparison.ts';
import { NOON_MS, transactionIn } from '../../../domain/cast.ts';
import { newVaultScene } from '../vault-scene.ts';
import { holdingsAt } from '../../../chains/readings.ts';

/** Covers the comparison of balances after a call of the vault, whose contract logs nothing. */

const CALLED = '0x4444444444444444444444444444444444444444';
const WETH = '0x5555555555555555555555555555555555555555';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => void vi.useRealTimers());

function newScene() {
  const { storage, host } = newVaultScene();
  const chains = chainsFrom({}).map((chain) =>
    chain.name === 'anvil'
      ? { ...chain, tokens: [{ address: WETH, symbol: 'WETH', decimals: 18, isCash: true }] }
      : chain,
  );
  storage.balances.open({ chain: 'anvil', ...NATIVE }, true);
  return { storage, host: { ...host, chains }, chain: chains.find(({ name }) => name === 'anvil') ?? null };
}

function callIn(state: TransactionState): Transaction {
  const transfer = transactionIn(state);
  const { to: _to, tokenAddress: _token, amount: _amount, ...frame } = Object(transfer.intent);
  const intent = { ...frame, kind: 'contract-interaction', to: CALLED, data: '0x', value: amountOf(0n) };
  return { ...transfer, chain: 'anvil', intent };
}

const dueAt = ({ host }: ReturnType<typeof newScene>) =>
  reconcileWork(host).flatMap(({ assets }) => assets.map(({ tokenAddress }) => tokenAddress));

test('a call that has succeeded compares its contract, the listed tokens and the native asset at once', () => {
  const scene = newScene();
  expect(dueAt(scene)).toEqual([]);
  const step = { before: callIn('CONFIRMING'), after: callIn('SUCCEEDED'), chain: scene.chain };
  compareAfterCall(scene.storage, step);
  expect(new Set(dueAt(scene))).toEqual(new Set([CALLED, WETH, null]));
});

test('a payment, a call that failed, and a later change of the same call compare nothing', () => {
  const scene = newScene();
  const compared = (before: Transaction, after: Transaction) =>
    compareAfterCall(scene.storage, { before, after, chain: scene.chain });
  compared(transactionIn('CONFIRMING'), transactionIn('SUCCEEDED'));
  compared(callIn('CONFIRMING'), callIn('FAILED'));
  compared(callIn('SUCCEEDED'), callIn('SUCCEEDED'));
  expect(dueAt(scene)).toEqual([]);
});

test('a contract that is no token, and a token that the wallet does not hold, are compared once', async () => {
  for (const amounts of [
    ['no-balance', 0n, 7n],
    [0n, 'no-balance', 7n],
  ] as const) {
    const scene = newScene();
    compareAfterCall(scene.storage, { before: callIn('CONFIRMING'), after: callIn('SUCCEEDED'), chain: scene.chain });
    const [work] = reconcileWork(scene.host);
    const assets = work?.assets ?? [];
    const held = holdingsAt(9, amounts);
    await recordHoldings(scene.host, {
      chain: 'anvil',
      assets: [...assets].toSorted((a, b) => ((a.tokenAddress ?? 'x') < (b.tokenAddress ?? 'x') ? -1 : 1)),
      held,
      hasOpenScan: false,
    });
    vi.setSystemTime(NOON_MS + 24 * 60 * 60 * 1000);
    expect(dueAt(scene)).toEqual([null]);
    vi.setSystemTime(NOON_MS);
  }
});

test('a token that the call may have moved stays compared while the chain does not cover it', async () => {
  const scene = newScene();
  compareAfterCall(scene.storage, { before: callIn('CONFIRMING'), after: callIn('SUCCEEDED'), chain: scene.chain });
  const assets = [{ chain: 'anvil', kind: 'erc20', tokenAddress: CALLED, tokenId: null }] as const;
  const held = holdingsAt(9, ['not-read'], true);
  await recordHoldings(scene.host, { chain: 'anvil', assets, held, hasOpenScan: false });
  expect(scene.storage.balances.balance(assets[0])?.check).toBeNull();
  vi.setSystemTime(NOON_MS + 60 * 60 * 1000);
  expect(dueAt(scene)).toContain(CALLED);
});

test('a token that the call moved without a log is found by the comparison, and stays compared', async () => {
  const scene = newScene();
  compareAfterCall(scene.storage, { before: callIn('CONFIRMING'), after: callIn('SUCCEEDED'), chain: scene.chain });
  const assets = [{ chain: 'anvil', kind: 'erc20', tokenAddress: CALLED, tokenId: null }] as const;
  const held = holdingsAt(9, [5n]);
  // The first difference starts a scan.
  expect(await recordHoldings(scene.host, { chain: 'anvil', assets, held, hasOpenScan: false })).toEqual({
    since: null,
  });
  vi.setSystemTime(NOON_MS + 60 * 60 * 1000);
  await recordHoldings(scene.host, {
    chain: 'anvil',
    assets,
    held: holdingsAt(10, [5n]),
    hasOpenScan: false,
  });
  expect(scene.storage.balances.balance(assets[0])).toMatchObject({ final: '5', adjustment: { reason: 'OPENING' } });
  expect(scene.storage.balances.isSeen(assets[0])).toBe(true);
});
