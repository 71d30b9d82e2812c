import { expect, test } from 'vitest';
import { signedAmountOf } from '#domain/asset/amount.ts';
import type { BalanceChange } from '#domain/asset/movement.ts';
import { movementsOf, NATIVE } from '#domain/asset/movement.ts';
import { decide } from '#domain/transaction/transition.ts';
import { amount, inclusion, NOON_MS, policy, transactionIn, transferIntent, UNSPENT } from '../cast.ts';

/** Covers how a contract call of the vault is classified once its chain shows the result. */

const WALLET = '0x1111111111111111111111111111111111111111';
const BOB = '0x2222222222222222222222222222222222222222';
const DOLLAR = '0x3333333333333333333333333333333333333333';

const change = (differences: Partial<BalanceChange>, units: bigint): BalanceChange => ({
  ...NATIVE,
  isMinted: false,
  isCash: differences.tokenAddress === undefined,
  ...differences,
  units: signedAmountOf(units),
});
const native = (units: bigint) => change({}, units);
const token = (units: bigint) => change({ kind: 'erc20', tokenAddress: DOLLAR }, units);
const other = (units: bigint) => change({ kind: 'erc20', tokenAddress: WALLET }, units);
/** A movement of a token that is listed as cash. */
const dollars = (units: bigint) => change({ kind: 'erc20', tokenAddress: BOB, isCash: true }, units);
const collectible = change({ kind: 'erc721', tokenAddress: DOLLAR, tokenId: '1', isMinted: true }, 1n);

const { tokenAddress: _, amount: value, ...frame } = transferIntent();
const called = transactionIn('BROADCAST', {
  intent: { ...frame, kind: 'contract-interaction', data: '0xd0e30db0', value },
  displayType: 'CONTRACT_INTERACTION',
});
const context = { nowMs: NOON_MS, policy, spentOf: UNSPENT };

function after(transaction: typeof called, event: Parameters<typeof decide>[1]) {
  const decided = decide(transaction, event, context);
  if (!decided.ok) throw new Error(decided.refusal.code);
  return decided.value.transaction;
}

test.each<[string, readonly BalanceChange[], string]>([
  ['native units for tokens', [native(-5n), token(9n)], 'BOUGHT'],
  ['tokens for native units', [native(5n), token(-9n)], 'SOLD'],
  ['tokens for a collectible of others', [token(-9n), { ...collectible, isMinted: false }], 'TRADED'],
  ['a collectible that is made', [native(-5n), collectible], 'MINTED'],
  ['a payment into a contract', [native(-5n)], 'CONTRACT_INTERACTION'],
  ['a payment into a contract beside a token that comes and goes', [native(-5n), token(0n)], 'CONTRACT_INTERACTION'],
  ['an amount that a contract pays back', [token(5n)], 'RECEIVED'],
  ['ether that a contract pays back', [native(5n)], 'RECEIVED'],
  ['tokens that are sent by a call', [token(-5n)], 'SENT'],
  ['dollars and ether that are sent by a call', [dollars(-5n), native(-1n)], 'SENT'],
  ['a collectible that is sent', [{ ...collectible, isMinted: false, units: signedAmountOf(-1n) }], 'SENT'],
  ['tokens that are made', [{ ...token(5n), isMinted: true }], 'MINTED'],
  ['dollars for shares', [dollars(-5n), { ...token(9n), isMinted: true }], 'TRADED'],
  ['shares for dollars', [dollars(5n), { ...token(-9n), isBurned: true }], 'TRADED'],
  ['dollars for a share and for a token', [dollars(-5n), { ...token(9n), isMinted: true }, other(1n)], 'BOUGHT'],
  ['dollars for tokens', [dollars(-5n), token(9n)], 'BOUGHT'],
  ['tokens for dollars', [dollars(5n), token(-9n)], 'SOLD'],
  ['wrapped native units, or dollars for native units', [dollars(5n), native(-5n)], 'TRADED'],
  ['nothing', [], 'CONTRACT_INTERACTION'],
])('%s', (_name, changes, displayType) => {
  const mined = after(called, { type: 'include', inclusion: inclusion({ changes }), confirmationsNeeded: 3 });
  expect([mined.state, mined.displayType]).toEqual(['CONFIRMING', displayType]);
  const gone = after(mined, { type: 'miss', inMempool: false, nonceTaken: false });
  expect([gone.state, gone.displayType]).toEqual(['BROADCAST', 'CONTRACT_INTERACTION']);
});

test('the net change of an asset is burned only when each of its movements is', () => {
  const base = { kind: 'erc20', tokenAddress: DOLLAR, tokenId: null, from: WALLET, amount: amount('5') } as const;
  const burned = (movements: readonly (string | null)[]) =>
    movementsOf(
      WALLET,
      movements.map((to, i) => ({ ...base, uid: `log:${i}`, to })),
      { tokens: [] },
    ).changes.map(({ isBurned }) => isBurned ?? false);
  expect([burned([null]), burned([null, BOB]), burned([BOB])]).toEqual([[true], [false], [false]]);
});

test('a transfer keeps the display type that it was created with', () => {
  const moved = inclusion({ changes: [native(-5n), token(9n)] });
  const mined = after(transactionIn('BROADCAST'), { type: 'include', inclusion: moved, confirmationsNeeded: 1 });
  expect(mined.displayType).toBe('SENT');
});

test('a record of ten thousand log lines keeps a hundred of them, and the net amounts of the assets', () => {
  const spam = Array.from({ length: 10_000 }, (_line, i) => ({
    uid: `log:0:${i}`,
    kind: 'erc1155' as const,
    from: BOB,
    to: WALLET,
    tokenAddress: BOB,
    tokenId: String(i),
    amount: amount('1'),
  }));
  const paid = { uid: 'log:9', kind: 'erc20', from: BOB, to: WALLET, tokenAddress: DOLLAR, tokenId: null } as const;
  const moved = movementsOf(WALLET, [...spam, { ...paid, amount: amount('7') }], { tokens: [] });
  expect([moved.movements.length, moved.movementCount, moved.changes.length]).toEqual([100, 10_001, 100]);
  expect(moved.changes[0]).toMatchObject({ kind: 'erc20', units: '7' });
});
