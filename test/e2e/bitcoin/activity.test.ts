import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LocalBitcoinChain } from '#local/bitcoin/chain.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import type { TransactionRecord } from '#cli/api-client.ts';
import { FaultyMonitor } from '#local/stack/faulty-monitor.ts';
import { report, watchableBitcoin, watchChain } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { BTC, REGTEST, stranger } from '../../chains/bitcoin/cast.ts';
import type { World } from '../world.ts';
import { startWorld } from '../world.ts';

/**
 * Covers incoming payments on Bitcoin that an unreliable monitor reports, on a chain with
 * reorganisations.
 */

const CHAIN = 'bitcoin-regtest';

let node: BitcoinNode;
let localChain: LocalBitcoinChain;
let world: World;

beforeAll(async () => {
  node = await startBitcoinNode();
  localChain = node.chain;
  world = await startWorld({ bitcoinUrl: node.url });
});
afterAll(async () => {
  await world.end();
  await node.stop();
});

const notify = (txHash: string) => report(world.stack().monitor, { txHash, chain: REGTEST });

async function records(of: ReadyVault): Promise<readonly TransactionRecord[]> {
  const { alice } = world.people();
  const answer = await alice.client.api.vault[':vaultId'].transactions.$get({
    param: { vaultId: String(of.id) },
    query: { visible: 'all', limit: '100' },
  });
  return (await answer.json()).transactions;
}

const ownOf = (vault: ReadyVault) => vault.addresses[CHAIN] ?? '';

test('a delivery about an unknown, foreign, removed or malformed hash credits nothing', async () => {
  const vault = await world.vault('quiet', { chains: [CHAIN] });
  const elsewhere = localChain.fund(stranger(), BTC);
  const lost = localChain.fund(ownOf(vault), BTC);
  localChain.reorganise(1);
  for (const hash of [elsewhere, lost, 'ab'.repeat(32), 'no hash', ''])
    expect([200, 400]).toContain(await notify(hash));
  const real = localChain.fund(ownOf(vault), 7_000n);
  expect(await notify(real)).toBe(200);
  const found = await pollUntil(
    'a record',
    async () => {
      const all = (await records(vault)).filter(({ chain }) => chain === CHAIN);
      return all.some(({ txHash }) => txHash === real) ? all : null;
    },
    20_000,
  );
  expect(found).toMatchObject([
    { txHash: real, displayType: 'RECEIVED', amount: '7000', movements: [{ from: expect.stringMatching(/^bcrt1q/) }] },
  ]);
});

test('the records match the chain in the end, whatever deliveries the monitor loses, repeats or delays', async () => {
  const seed = Number(process.env['MISCHIEF_SEED'] ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const chance = seededRandom(seed);
  const vault = await world.vault('mischief', { chains: [CHAIN] });
  const own = ownOf(vault);
  const monitor = watchChain(watchableBitcoin(localChain), world.stack().monitor, new FaultyMonitor(chance));
  const sent: string[] = [];
  for (let i = 0; i < 30; i++) {
    sent.push(localChain.fund(own, BigInt(1_000 + Math.floor(chance() * 1_000_000))));
    // Waits for one request, so that the monitor and the service can work in between.
    await records(vault);
    if (i === 15 || chance() < 0.2) localChain.reorganise(1 + Math.floor(chance() * 3));
  }
  await monitor.stop();
  localChain.mine(6);
  const truth = sent.filter((hash) => localChain.heightOf(hash) !== null);
  expect(truth.length).toBeLessThan(sent.length);
  const { alice } = world.people();
  const settled = await pollUntil(
    'a history that is the chain’s',
    async () => {
      await alice.client.requestRescan(vault.id);
      const all = (await records(vault)).filter(({ chain }) => chain === CHAIN);
      const shown = new Set(all.filter(({ visible }) => visible).map(({ txHash }) => txHash));
      return shown.size === truth.length && truth.every((hash) => shown.has(hash)) ? all : null;
    },
    90_000,
  );
  expect(new Set(settled.map(({ txHash }) => txHash)).size).toBe(settled.length);
  const gone = settled.filter(({ visible }) => !visible);
  expect(gone.map(({ state, stateReason }) => [state, stateReason])).toEqual(gone.map(() => ['FAILED', 'REORGED']));
  const held = await pollUntil(
    'a settled balance',
    async () => {
      const { balances } = await alice.client.balances(vault.id);
      const here = balances.find(({ chain }) => chain === CHAIN);
      return here !== undefined && here.amount === here.current ? here : null;
    },
    90_000,
  );
  expect([held.amount, held.adjustment]).toEqual([localChain.balance(own).toString(), null]);
});
