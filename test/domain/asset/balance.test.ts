import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signedAmountOf } from '#domain/asset/amount.ts';
import type { Balance } from '#domain/asset/balance.ts';
import { ADJUSTMENT_REASONS, compare, balanceLines, newBalance, nextComparisonMs } from '#domain/asset/balance.ts';
import type { BalanceChange } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { amount, NOON_MS } from '../cast.ts';

/**
 * Covers the balance of one asset of a wallet, and what happens when the chain reports another
 * balance.
 */

const DOLLAR = { kind: 'erc20', tokenAddress: '0x3333333333333333333333333333333333333333', tokenId: null } as const;
const POLL_MS = 1_000;
const SCANNED_MS = 20 * POLL_MS;
const change = (asset: Pick<BalanceChange, 'kind' | 'tokenAddress' | 'tokenId'>, units: bigint): BalanceChange => ({
  ...asset,
  units: signedAmountOf(units),
  isMinted: false,
  isCash: asset.tokenAddress === null,
});
const units = (lines: readonly { readonly units: string }[]) => lines.map((line) => line.units);

test.each<[string, readonly BalanceChange[], string | null, readonly string[]]>([
  ['what another account pays for', [change(NATIVE, 5n)], null, ['5']],
  ['what the wallet pays for', [change(NATIVE, -5n)], '2', ['-7']],
  ['tokens that the wallet sends', [change(DOLLAR, -5n)], '2', ['-2', '-5']],
  ['a call that moves nothing', [], '2', ['-2']],
  ['equal incoming and outgoing amounts', [change(NATIVE, 0n), change(DOLLAR, 0n)], null, []],
  ['native units that came for the fee alone', [change(NATIVE, 2n)], '2', []],
])('%s', (_name, changes, fee, expected) => {
  expect(units(balanceLines(changes, fee === null ? null : amount(fee)))).toEqual(expected);
});

const at = (block: number, chainUnits: bigint, recordedUnits: bigint, afterMs = 0) => ({
  blockNumber: String(block),
  chainUnits,
  recordedUnits,
  atMs: NOON_MS + afterMs,
  pollIntervalMs: POLL_MS,
  hasOpenScan: false,
  isMoving: false,
  revocable: [],
});
const holding = (final: bigint, differences: Partial<Balance> = {}): Balance => ({
  ...newBalance(NATIVE),
  final: signedAmountOf(final),
  ...differences,
});
/** Returns a difference that was recorded at noon. */
const differing = (by: bigint) => ({
  difference: { units: signedAmountOf(by), sinceMs: NOON_MS, differingSinceMs: NOON_MS },
});
const agreed = (block: number) => ({ blockNumber: String(block), atMs: NOON_MS - 1 });

test('only the block number is recorded if the balances and the chain agree', () => {
  const before = holding(5n);
  expect(compare(before, at(9, 5n, 5n))).toEqual({ ...before, check: { blockNumber: '9', atMs: NOON_MS } });
});

test('a difference starts a scan, and no balance changes before the time for the scan is over', () => {
  const before = holding(5n, { check: agreed(3) });
  const noted = compare(before, at(9, 7n, 5n));
  expect(noted).toEqual({ ...before, ...differing(2n) });
  expect(compare(noted, at(9, 7n, 5n, SCANNED_MS - 1))).toBe(noted);
  expect(nextComparisonMs(noted, NOON_MS, POLL_MS)).toBe(NOON_MS + SCANNED_MS);
});

test('a difference is not accepted before the scan is complete, however long that takes', () => {
  const noted = holding(5n, { ...differing(2n) });
  const late = at(9, 7n, 5n, 9 * SCANNED_MS);
  expect(compare(noted, { ...late, hasOpenScan: true })).toBe(noted);
  expect(compare(noted, { ...at(9, 5n, 5n, 9), hasOpenScan: true }).difference).toBeNull();
  expect(compare(noted, late).adjustment).toMatchObject({ units: '2', reason: 'OPENING' });
});

test('a difference of another amount replaces the recorded one and waits again', () => {
  const noted = holding(5n, { check: agreed(3), ...differing(2n) });
  const other = compare(noted, at(9, 8n, 5n, SCANNED_MS));
  expect(other.difference).toEqual({ units: '3', sinceMs: NOON_MS + SCANNED_MS, differingSinceMs: NOON_MS });
  expect(compare(other, at(10, 8n, 5n, 2 * SCANNED_MS - 1))).toBe(other);
  expect(compare(other, at(10, 8n, 5n, 2 * SCANNED_MS)).adjustment?.units).toBe('3');
});

test('a difference is accepted only after an hour while transactions of the wallet are in flight', () => {
  const noted = holding(5n, { check: agreed(3), ...differing(2n) });
  const moving = (afterMs: number) => compare(noted, { ...at(9, 7n, 5n, afterMs), isMoving: true });
  expect(moving(SCANNED_MS)).toBe(noted);
  expect(moving(600 * POLL_MS - 1)).toBe(noted);
  expect(moving(600 * POLL_MS).adjustment?.units).toBe('2');
});

test.each<[string, bigint, readonly bigint[], boolean]>([
  ['less than the balances, which count a payment to it in a block that may still go', -2n, [-1n, 1n], false],
  ['more than the balances, which count a payment by it in a block that may still go', 2n, [1n, -1n], false],
  ['less than the balances, which count only outgoing payments in such blocks', -2n, [0n, -1n], true],
  ['more than the balances, which count only incoming payments in such blocks', 2n, [1n], true],
])('the chain reports %s', (_name, difference, revocable, isBelieved) => {
  const noted = holding(5n, { check: agreed(3), ...differing(difference) });
  const later = (afterMs: number) => compare(noted, { ...at(9, 5n + difference, 5n, afterMs), revocable });
  expect(later(SCANNED_MS).adjustment !== null).toBe(isBelieved);
  expect(later(600 * POLL_MS - 1).adjustment !== null).toBe(isBelieved);
  expect(later(600 * POLL_MS).adjustment?.units).toBe(difference.toString());
});

test('a difference that a scan explains is removed without an adjustment', () => {
  const noted = holding(7n, { check: agreed(3), ...differing(2n) });
  const after = compare(noted, at(10, 7n, 7n, SCANNED_MS));
  expect([after.difference, after.adjustment, after.final]).toEqual([null, null, '7']);
});

test.each<[string, Partial<Balance>, bigint, string]>([
  ['a balance from before the first scan', { check: null }, 7n, 'OPENING'],
  ['units of unknown origin', { check: agreed(3) }, 7n, 'UNSEEN_PAYMENT'],
  ['missing units', { check: agreed(3) }, 2n, 'UNSEEN_PAYMENT'],
  ['a token that grows', { ...DOLLAR, check: agreed(3) }, 7n, 'CHANGED_BY_TOKEN'],
  [
    'an adjustment from before the payment was known',
    { check: agreed(3), late: signedAmountOf(-2n) },
    7n,
    'LATE_RECORD',
  ],
  ['as late as that, and more', { check: agreed(3), late: signedAmountOf(-1n) }, 7n, 'UNSEEN_PAYMENT'],
])('%s: the balances follow the chain, with the reason', (_name, differences, chainUnits, reason) => {
  const noted = holding(5n, { ...differences, ...differing(chainUnits - 5n) });
  const after = compare(noted, at(10, chainUnits, 5n, SCANNED_MS));
  expect([after.final, after.late, after.difference]).toEqual([chainUnits.toString(), '0', null]);
  expect(after.adjustment).toEqual({
    units: (chainUnits - 5n).toString(),
    reason,
    fromBlock: differences.check === null ? null : '3',
    toBlock: '10',
    atMs: NOON_MS + SCANNED_MS,
  });
});

test('the adjustment reasons are the published ones', () => {
  expect(ADJUSTMENT_REASONS).toEqual(['OPENING', 'LATE_RECORD', 'UNSEEN_PAYMENT', 'CHANGED_BY_TOKEN']);
});

test('a comparison at an older block than the last one changes nothing', () => {
  const before = holding(5n, { check: agreed(9), ...differing(2n) });
  expect(compare(before, at(8, 7n, 5n, SCANNED_MS))).toBe(before);
  // A comparison at the block of the last one counts.
  expect(compare(before, at(9, 7n, 5n, SCANNED_MS)).final).toBe('7');
});

test('an asset whose balances never agree is compared less and less often, until they agree again', () => {
  let balance = holding(0n, { check: agreed(1) });
  const waits: number[] = [];
  for (let day = 1; day <= 5; day++) {
    const nowMs = day * 1_000_000_000;
    balance = compare(balance, { ...at(day * 10, BigInt(day), BigInt(day - 1)), atMs: nowMs });
    balance = compare(balance, { ...at(day * 10, BigInt(day), BigInt(day - 1)), atMs: nowMs + SCANNED_MS });
    waits.push((nextComparisonMs(balance, nowMs, POLL_MS) - nowMs) / POLL_MS);
  }
  expect(waits).toEqual([1200, 2400, 4800, 4800, 4800]);
  const calm = compare(balance, at(99, 5n, 5n));
  expect(nextComparisonMs(calm, NOON_MS, POLL_MS) - NOON_MS).toBe(600 * POLL_MS);
});

test('only an adjustment changes the balance, by exactly its amount, in any order of comparisons', () => {
  const comparisons = fc.array(
    fc.record({ block: fc.nat(20), chain: fc.nat(9), storage: fc.nat(9), afterMs: fc.nat(90_000) }),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(comparisons, (all) => {
      let balance = holding(5n);
      for (const { block, chain, storage, afterMs } of all) {
        const after = compare(balance, at(block, BigInt(chain), BigInt(storage), afterMs));
        const changed = BigInt(after.final) - BigInt(balance.final);
        const adjusted = after.adjustment === balance.adjustment ? 0n : BigInt(after.adjustment?.units ?? '0');
        expect(changed).toBe(adjusted);
        balance = after;
      }
    }),
  );
});
