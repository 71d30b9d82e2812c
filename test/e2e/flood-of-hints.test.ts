import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import type { MonitorEndpoint } from '#local/stack/monitor.ts';
import { report, reportMany } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { anvilClient } from '../chains/evm/anvil-client.ts';
import type { World } from './world.ts';
import { startWorld } from './world.ts';

/**
 * Covers a monitor that reports more transactions than the service can read soon: real deposits are
 * recorded after a bounded number of calls to the RPC node.
 */

const UNKNOWN_HASHES = 13_400;
/** One try of each unknown hash needs more than 60,000 calls, and two parts need about 250. */
const MAX_CALLS = 1_000;
const DEADLINE_MS = 120_000;
const OTHER = 'other';

let world: World;
let vault: ReadyVault;

beforeAll(async () => {
  world = await startWorld({ furtherEndpoints: [OTHER] });
  vault = await world.vault('treasury');
});
afterAll(() => world.end());

/** Pays the vault and waits for the block. Returns the hash. */
async function paid(index: number): Promise<string> {
  const client = anvilClient(world.chainUrl);
  const account = getAddress(await world.chain.account(index));
  const hash = await client.sendTransaction({ account, to: getAddress(vault.address), value: 10n ** 17n });
  await client.mined(hash);
  return hash;
}

/** Reports a deposit, and returns what happened until the record of it. */
async function recorded(endpoint: MonitorEndpoint, hash: string) {
  const { alice } = world.people();
  const [before, startMs] = [world.gate.said.length, performance.now()];
  expect(await report(endpoint, hash)).toBe(200);
  await pollUntil(
    'the record of the deposit',
    async () => {
      const param = { vaultId: String(vault.id) };
      const request = alice.client.api.vault[':vaultId'].transactions.$get({ param, query: {} });
      const { transactions } = await unwrap(request);
      return transactions.some(({ txHash }) => txHash === hash) ? true : null;
    },
    DEADLINE_MS,
  );
  return { calls: world.gate.said.length - before, ms: Math.round(performance.now() - startMs) };
}

test('a delivery of 13,400 unknown hashes delays no real deposit of its own or of another endpoint', async () => {
  const own = world.stack().monitor;
  const deposits = [await paid(5), await paid(6), await paid(7)];
  const unknown = Array.from({ length: UNKNOWN_HASHES }, (_, i) => `0x${(i + 1).toString(16).padStart(64, 'f')}`);
  const quiet = await recorded(own, deposits[0] ?? '');
  const startMs = performance.now();
  expect((await reportMany(own, unknown)).status).toBe(200);
  const acceptedMs = Math.round(performance.now() - startMs);
  const same = await recorded(own, deposits[1] ?? '');
  const other = await recorded({ ...own, endpointId: OTHER }, deposits[2] ?? '');
  console.log(JSON.stringify({ quiet, acceptedMs, same, other }));
  expect(quiet.calls).toBeGreaterThan(0);
  expect(same.calls).toBeLessThan(MAX_CALLS);
  expect(other.calls).toBeLessThan(MAX_CALLS);
});
