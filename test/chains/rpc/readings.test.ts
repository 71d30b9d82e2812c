import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { NodeHoldings, Reading } from '#chains/chain-client.ts';
import type { HoldingsQuery } from '#chains/rpc/holdings-quorum.ts';
import { covered, NOT_READ, readHoldings } from '#chains/rpc/holdings-quorum.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import { signedAmountOf } from '#domain/asset/amount.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import { recordHoldings } from '#objects/vault/commands/balance.ts';
import { present } from '../evm/cast.ts';
import { NOON_MS } from '../../domain/cast.ts';
import { newVaultScene } from '../../objects/vault/vault-scene.ts';

/**
 * Covers what any sequence of readings does to a balance: of RPC nodes that cover the asset or do
 * not, that are unreachable or behind, and of which one may lie. `READING_RUNS` sets the number of
 * sequences.
 */

const RUNS = Number.parseInt(process.env['READING_RUNS'] ?? '200', 10);
const TOKEN = '0x4444444444444444444444444444444444444444';
const asset = { chain: 'anvil', kind: 'erc20', tokenAddress: TOKEN, tokenId: null } as const;

const neverCalled = () => Promise.reject(new Error('the reader asks the chain itself'));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS });
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** What one RPC node does in one comparison. */
type Conduct =
  | { readonly does: 'answer'; readonly behind: number }
  | { readonly does: 'skip'; readonly behind: number }
  | { readonly does: 'fail' }
  | { readonly does: 'lie'; readonly says: Reading };

type Step =
  /** The chain moves units in a block. The record arrives after so many steps; null for never. */
  | { readonly is: 'move'; readonly units: number; readonly recordedAfter: number | null }
  | { readonly is: 'empty block' }
  | { readonly is: 'compare'; readonly conducts: readonly Conduct[]; readonly afterMs: number };

const behind = fc.oneof(fc.constant(0), fc.nat(6));
const honest = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('answer' as const), behind }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('skip' as const), behind }) },
  { weight: 1, arbitrary: fc.constant({ does: 'fail' } as const) },
);
const lie = fc.record({
  does: fc.constant('lie' as const),
  says: fc.oneof(
    { weight: 8, arbitrary: fc.tuple(fc.nat(12), fc.nat(30)).map(([units, at]) => covered(BigInt(units), BigInt(at))) },
    { weight: 1, arbitrary: fc.constant<Reading>({ state: 'no-balance' }) },
    { weight: 1, arbitrary: fc.constant(NOT_READ) },
  ),
});
const step = (liar: number): fc.Arbitrary<Step> =>
  fc.oneof(
    fc.record({
      is: fc.constant('move' as const),
      units: fc.integer({ min: -3, max: 6 }),
      recordedAfter: fc.option(fc.nat(4)),
    }),
    fc.constant({ is: 'empty block' } as const),
    {
      weight: 8,
      arbitrary: fc.record({
        is: fc.constant('compare' as const),
        conducts: fc.tuple(
          ...[0, 1, 2].map((i) =>
            i === liar ? fc.oneof({ weight: 3, arbitrary: honest }, { weight: 1, arbitrary: lie }) : honest,
          ),
        ),
        // Between a poll and the time after which any difference counts.
        afterMs: fc.constantFrom(300, 7_000, 200_000),
      }),
    },
  );

/** The units of the wallet at the end of each block. Without history a node states its newest. */
class Chain {
  readonly units = [0n];
  readonly hasHistory: boolean;

  constructor(hasHistory: boolean) {
    this.hasHistory = hasHistory;
  }

  get head(): number {
    return this.units.length - 1;
  }

  read(conduct: Conduct, { at, assets }: HoldingsQuery): Result<NodeHoldings, NodeProblem> {
    if (conduct.does === 'fail') return unusable('The RPC node is unreachable.');
    if (conduct.does === 'lie') {
      const { says } = conduct;
      return accepted({
        blockNumber: says.state === 'covered' ? says.blockNumber : '0',
        readings: assets.map(() => says),
      });
    }
    const own = Math.max(0, this.head - conduct.behind);
    const block = at === null || !this.hasHistory ? own : Number.parseInt(at, 10);
    if (block > own) return unusable('The RPC node does not have the block yet.');
    const reading = conduct.does === 'skip' ? NOT_READ : covered(present(this.units[block]), BigInt(block));
    return accepted({ blockNumber: String(block), readings: assets.map(() => reading) });
  }
}

async function play(
  steps: readonly Step[],
  { nodes, hasHistory }: { nodes: number; hasHistory: boolean },
): Promise<number> {
  const { storage, host } = newVaultScene();
  const chain = new Chain(hasHistory);
  storage.balances.open(asset, true);
  const due: { readonly at: number; readonly block: number; readonly units: number }[] = [];
  let adjustments = 0;
  for (const [i, one] of steps.entries()) {
    if (one.is === 'empty block') chain.units.push(present(chain.units.at(-1)));
    if (one.is === 'move') {
      const before = present(chain.units.at(-1));
      const units = before + BigInt(one.units) < 0n ? 0 : one.units;
      chain.units.push(before + BigInt(units));
      if (one.recordedAfter !== null) due.push({ at: i + one.recordedAfter, block: chain.head, units });
    }
    for (const { block, units } of due.filter(({ at }) => at === i)) {
      const lines = [{ ...asset, units: signedAmountOf(BigInt(units)) }];
      const posting = { blockNumber: String(block), isFinal: true, lines };
      storage.balances.post({ recordId: `r${block}`, chain: 'anvil', isSeen: () => true }, posting);
    }
    if (one.is !== 'compare') continue;
    vi.setSystemTime(Date.now() + one.afterMs);
    const before = present(storage.balances.balance(asset));
    const conducts = one.conducts.slice(0, nodes);
    const pool = {
      nodes: conducts.map((_, n): RpcNode => ({ host: String(n), request: neverCalled })),
      nodeProblem: async () => null,
    };
    const query = { address: '0x', assets: [asset], requiresProof: before.difference !== null };
    const held = await readHoldings(pool, query, async (node, request) =>
      chain.read(present(conducts[Number.parseInt(node.host, 10)]), request),
    );
    await recordHoldings(host, {
      chain: 'anvil',
      assets: [asset],
      held: held.ok ? held.value : null,
      hasOpenScan: false,
    });
    const after = present(storage.balances.balance(asset));
    // What does not cover the asset leaves its balance and its last check.
    if (!held.ok || held.value.readings[0]?.state !== 'covered') expect(after).toEqual(before);
    if (after.final === before.final) continue;
    adjustments += 1;
    // The balance is then what the chain had. Of two blocks of nodes, the older one is stored.
    const from = Number.parseInt(present(after.adjustment).toBlock, 10);
    const recorded = (block: number) => storage.balances.standAt(asset, String(block)).recordedUnits;
    const isTrue = chain.units.some((units, block) => block >= from && recorded(block) === units);
    expect({ recorded: chain.units.map((_, block) => recorded(block)), from, isTrue }).toMatchObject({ isTrue: true });
  }
  return adjustments;
}

test('a node that states the right units for an older block makes no record count twice', async () => {
  const { storage, host } = newVaultScene();
  storage.balances.open(asset, true);
  const lines = [{ ...asset, units: signedAmountOf(5n) }];
  const posting = { blockNumber: '12', isFinal: true, lines };
  storage.balances.post({ recordId: 'r', chain: 'anvil', isSeen: () => true }, posting);
  const stated = (block: bigint) => accepted({ blockNumber: String(block), readings: [covered(5n, block)] });
  const [liar, other] = ['liar', 'honest'].map((name): RpcNode => ({ host: name, request: neverCalled }));
  const pool = { nodes: [present(liar), present(other)], nodeProblem: async () => null };
  const query = { address: '0x', assets: [asset], requiresProof: true };
  for (const hour of [0, 1, 2]) {
    vi.setSystemTime(NOON_MS + hour * 60 * 60 * 1000);
    const held = await readHoldings(pool, query, async ({ host: name }) => stated(name === 'liar' ? 10n : 40n));
    const report = { chain: 'anvil', assets: [asset], held: held.ok ? held.value : null, hasOpenScan: false };
    await recordHoldings(host, report);
  }
  expect(storage.balances.balance(asset)).toMatchObject({ final: '5', check: null, difference: null });
});

test.each([
  ['that can be read at one block', true],
  ['that keep no older state', false],
])(
  'no sequence of readings of RPC nodes %s sets a balance to what the chain does not have',
  async (_name, hasHistory) => {
    let adjustments = 0;
    const terms = fc.record({ nodes: fc.integer({ min: 2, max: 3 }), liar: fc.nat(2) });
    const stories = terms.chain((chosen) =>
      fc.tuple(fc.constant(chosen), fc.array(step(chosen.liar), { minLength: 20, maxLength: 60, size: 'max' })),
    );
    await fc.assert(
      fc.asyncProperty(stories, async ([{ nodes }, steps]) => {
        adjustments += await play(steps, { nodes, hasHistory });
      }),
      { numRuns: RUNS },
    );
    expect(adjustments).toBeGreaterThan(RUNS / 10);
  },
);
