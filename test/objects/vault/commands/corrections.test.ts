import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ReadingProof } from '#domain/activity/correction.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { followWork, recordActivity } from '#objects/vault/commands/activity.ts';
import { recordHoldings, requestRescan } from '#objects/vault/commands/balance.ts';
import { alice, NOON_MS, UNPRICED } from '../../../domain/cast.ts';
import { holdingsAt } from '../../../chains/readings.ts';
import { BOB, CAROL, newVaultScene, WALLET } from '../vault-scene.ts';

/** Covers final records whose contents were stated falsely, or whose block is gone after all. */

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(NOON_MS);
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const BY_TWO: ReadingProof = { isByTwo: true, isTraced: true };
const native = { ...NATIVE, chain: 'anvil' };

function newScene() {
  const { sql, storage, host } = newVaultScene();
  storage.balances.open(native, true);
  return {
    host,
    storage,
    /** Reports a transaction; `null` movements: it is in no block. */
    states: (
      movements: readonly Partial<ChainMovement>[] | null,
      { hash = '0xa', block = 7, isFinal = true, proof = {} }: States = {},
    ) => {
      const seen = movements === null ? null : seenAs(hash, { movements, block, isFinal });
      const proven = proof === null ? {} : { proof: { ...BY_TWO, ...proof } };
      return recordActivity(host, { chain: 'anvil', hash, seen, valuation: UNPRICED, ...proven });
    },
    record: (hash = '0xa') => {
      const record = storage.activities.ofHash('anvil', hash);
      if (record === null) throw new Error('there is no record');
      return record;
    },
    final: () => storage.balances.balance(native)?.final,
    polls: (hash: string) => storage.queuedJob(storage.activities.ofHash('anvil', hash)?.id ?? '', 'follow')?.dueAtMs,
    corrections: () =>
      sql
        .exec<{ document: string }>('SELECT document FROM history')
        .toArray()
        .map(({ document }) => JSON.parse(document) as { action: string; detail: string })
        .flatMap(({ action, detail }) => (action === 'correct' ? [JSON.parse(detail) as unknown] : [])),
  };
}

interface States {
  readonly hash?: string;
  readonly block?: number;
  readonly isFinal?: boolean;
  readonly proof?: Partial<ReadingProof> | null;
}

function seenAs(
  hash: string,
  { movements, block, isFinal }: { movements: readonly Partial<ChainMovement>[]; block: number; isFinal: boolean },
) {
  return {
    hash,
    signer: BOB,
    fee: amountOf(1n),
    block: { number: String(block), hash: `0xb${block}`, confirmations: isFinal ? 70 : 1, isFinal },
    movements: movements.map((one, i) => ({
      ...NATIVE,
      uid: `log:${i}`,
      kind: 'native' as const,
      from: BOB,
      to: WALLET,
      amount: amountOf(5n),
      ...one,
    })),
  };
}

const HUGE = { amount: amountOf(1000n) };

test('a false amount in a final record is corrected, with its line in the history and a notification', async () => {
  const { states, record, final, corrections, storage } = newScene();
  await states([{}, HUGE]);
  const { id } = record();
  storage.completeJob(id, 'notify');
  expect(final()).toBe('1005');
  expect(await states([{}])).toBe('recorded');
  expect(record()).toMatchObject({ state: 'SUCCEEDED', stateReason: 'CONTENTS_CORRECTED', changes: [{ units: '5' }] });
  expect(final()).toBe('5');
  const contents = (units: string) => ({ fee: '1', changes: [{ tokenAddress: null, tokenId: null, units }] });
  expect(corrections()).toEqual([{ hash: '0xa', before: contents('1005'), after: contents('5') }]);
  expect(storage.queuedJob(id, 'notify')).not.toBeNull();
  // The same statement again is no change, and a contrary one of two nodes is another correction.
  expect(await states([{}])).toBe('unchanged');
  await states([{}, HUGE]);
  expect([final(), corrections().length]).toEqual(['1005', 2]);
});

test('a false sender of a final record is corrected', async () => {
  const { states, record } = newScene();
  await states([{ from: CAROL }]);
  await states([{}]);
  expect(record()).toMatchObject({ stateReason: 'CONTENTS_CORRECTED', movements: [{ from: BOB }] });
});

test('a final record of a transaction that moves nothing of the wallet no longer counts', async () => {
  const { states, record, final } = newScene();
  await states([HUGE]);
  await states([{ to: CAROL }]);
  expect(record()).toMatchObject({ state: 'FAILED', stateReason: 'DISPROVEN', visible: false });
  expect(final()).toBe('0');
});

test('a final record whose block is gone no longer counts, until another block has the transaction', async () => {
  const { states, record, final, corrections } = newScene();
  await states([HUGE]);
  await states(null);
  expect(record()).toMatchObject({ state: 'FAILED', stateReason: 'REORGED' });
  expect([final(), corrections().length]).toEqual(['0', 1]);
  await states([HUGE], { block: 9, isFinal: false });
  expect(record()).toMatchObject({ state: 'SUCCEEDED', block: { number: '9' } });
  await states([HUGE], { block: 9 });
  expect(final()).toBe('1000');
});

test('what one RPC node states changes no final record', async () => {
  const { states, record } = newScene();
  await states([HUGE]);
  const before = record();
  for (const proof of [null, { isByTwo: false }]) {
    for (const lie of [null, [{}], [{ to: CAROL }]]) expect(await states(lie, { proof })).toBe('unchanged');
  }
  // Two nodes must state a final block, too.
  for (const lie of [[{}], [{ to: CAROL }]]) await states(lie, { isFinal: false });
  expect(record()).toEqual(before);
});

test('a payment by a contract stays while RPC nodes do not trace it alike', async () => {
  const { states, record } = newScene();
  await states([{ ...HUGE, kind: 'internal', uid: 'trace:0' }]);
  expect(await states([{ to: CAROL }], { proof: { isTraced: false } })).toBe('unchanged');
  expect(record().state).toBe('SUCCEEDED');
  await states([{ to: CAROL }]);
  expect(record()).toMatchObject({ state: 'FAILED', stateReason: 'DISPROVEN' });
});

test('a payment that a reorg leaves without an effect ends, when RPC nodes trace it alike', async () => {
  const { states, record } = newScene();
  await states([HUGE], { isFinal: false });
  await states([{ to: CAROL }], { block: 8, isFinal: false, proof: { isTraced: false } });
  expect(record().state).toBe('SUCCEEDED');
  await states([{ to: CAROL }], { block: 8, isFinal: false });
  expect(record()).toMatchObject({ state: 'FAILED', stateReason: 'DISPROVEN' });
});

test('a difference polls the final records of its asset since the last agreement, the largest first', async () => {
  const { host, states, polls } = newScene();
  await states([{}], { hash: '0x0', block: 3 });
  const compared = (block: number, units: bigint) => {
    const held = holdingsAt(block, [units]);
    return recordHoldings(host, { chain: 'anvil', assets: [native], held, hasOpenScan: false });
  };
  await compared(5, 5n);
  await states([{}], { hash: '0x1', block: 6 });
  await states([HUGE], { hash: '0x2', block: 7 });
  await states([{ kind: 'erc20', tokenAddress: CAROL }], { hash: '0x3', block: 7 });
  await compared(8, 10n);
  expect(['0x0', '0x1', '0x2', '0x3'].map(polls)).toEqual([undefined, NOON_MS + 500, NOON_MS, undefined]);
  const id = host.storage.activities.ofHash('anvil', '0x2')?.id ?? '';
  expect(followWork(host, { id })).toMatchObject({ hash: '0x2', block: { isFinal: true } });
  // A poll that changes nothing ends it.
  await states([HUGE], { hash: '0x2', block: 7 });
  expect(polls('0x2')).toBeUndefined();
});

test('a rescan polls the newest final records', async () => {
  const { host, states, polls } = newScene();
  for (let i = 0; i < 102; i++) {
    vi.setSystemTime(NOON_MS + i);
    await states([{}], { hash: `0x${i}`, block: i + 1 });
  }
  await requestRescan(host, alice);
  const nowMs = NOON_MS + 101;
  expect(['0x101', '0x2', '0x1'].map(polls)).toEqual([nowMs, nowMs + 99 * 500, undefined]);
});

test('a block that an RPC node states far ahead of the chain does not end the comparisons', async () => {
  const { host, storage, states } = newScene();
  await states([{}], { block: 3 });
  const compared = (block: number, units: bigint) =>
    recordHoldings(host, { chain: 'anvil', assets: [native], held: holdingsAt(block, [units]), hasOpenScan: false });
  await compared(1_000_000_000, 5n);
  await compared(999_999_999, 5n);
  expect(storage.balances.balance(native)?.difference).toBeNull();
  await compared(9, 7n);
  expect(storage.balances.balance(native)?.difference).toMatchObject({ units: '2' });
});
