import type { Address, Hex } from 'viem';
import { encodeFunctionData, erc20Abi, getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import { FaultyMonitor } from '#local/stack/faulty-monitor.ts';
import { watchLocalChain } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { anvilClient } from '../chains/evm/anvil-client.ts';
import type { World } from './world.ts';
import { startWorld } from './world.ts';

/**
 * Covers a monitor that loses, repeats, delays and reorders deliveries on a chain with
 * reorganisations: the history matches the chain in the end.
 */

const SEED = Number(process.env['MISCHIEF_SEED'] ?? 20261121);
const PAYMENTS = 40;
const DEADLINE_MS = 30_000;

let world: World;
let vault: ReadyVault;
let dollar: Address;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  dollar = getAddress(await world.chain.deployDollar(await world.chain.account(0), 1_000_000n));
});
afterAll(() => world.end());

const client = () => anvilClient(world.chainUrl);

/**
 * Pays the vault without waiting for the block. Returns null when the chain has just undone the
 * nonce in a reorganisation.
 */
async function pay(number: number): Promise<Hex | null> {
  const amount = BigInt(number + 1);
  const to = getAddress(vault.address);
  const isToken = number % 3 === 0;
  const account = getAddress(await world.chain.account(isToken ? 0 : 5 + (number % 4)));
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
  // More than the dust that is hidden without a price.
  const call = isToken ? { to: dollar, data } : { to, value: amount * 10n ** 10n };
  return client()
    .sendTransaction({ account, gas: 100_000n, ...call })
    .catch(() => null);
}

async function incoming(): Promise<readonly TransactionRecord[]> {
  const { alice } = world.people();
  const param = { vaultId: String(vault.id) };
  const request = alice.client.api.vault[':vaultId'].transactions.$get({
    param,
    query: { visible: 'all', limit: '100' },
  });
  return (await unwrap(request)).transactions;
}

/** Returns the block of each payment on the chain. A payment that is in no block has no entry. */
async function chainsOwn(hashes: readonly Hex[]): Promise<ReadonlyMap<string, string>> {
  const blocks = new Map<string, string>();
  for (const hash of hashes) {
    const receipt = await client()
      .getTransactionReceipt({ hash })
      .catch(() => null);
    if (receipt !== null) blocks.set(hash, receipt.blockHash);
  }
  return blocks;
}

/** Returns the block of each visible payment of a history that succeeded. */
function shownOf(records: readonly TransactionRecord[]): ReadonlyMap<string, string> {
  const agreement = records.filter(({ state, visible }) => state === 'SUCCEEDED' && visible);
  return new Map(agreement.map(({ txHash, block }) => [txHash ?? '', block?.hash ?? '']));
}

function same(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([hash, block]) => other.get(hash) === block);
}

test(`a history matches the chain, whatever its monitor does (seed ${SEED})`, async () => {
  const faults = new FaultyMonitor(seededRandom(SEED));
  const monitor = await watchLocalChain(world.chainUrl, world.stack().monitor, faults);
  const sent: Hex[] = [];
  for (let number = 0; number < PAYMENTS; number++) {
    const hash = await pay(number);
    if (hash !== null) sent.push(hash);
  }
  await pollUntil('ten records', async () => ((await incoming()).length < 10 ? null : true), DEADLINE_MS);
  await monitor.stop();
  const { alice } = world.people();
  await alice.client.requestRescan(vault.id);
  const truth = await chainsOwn(sent);
  const sum = (seen: readonly TransactionRecord[], token: string | null) =>
    seen
      .filter(({ visible, asset }) => visible && asset?.tokenAddress === token)
      .reduce((total, { amount }) => total + BigInt(amount ?? '0'), 0n);
  const records = await pollUntil(
    'a history that is the chain’s',
    async () => {
      const seen = await incoming();
      // The sum includes the payments from before the monitor started: a rescan finds them.
      if (sum(seen, null) !== (await world.chain.balance(vault.address))) return null;
      const shown = shownOf(seen.filter(({ txHash }) => sent.some((hash) => hash === txHash)));
      return same(shown, truth) ? seen : null;
    },
    DEADLINE_MS,
  );
  expect(truth.size).toBeGreaterThan(PAYMENTS / 2);
  expect(new Set(records.map(({ txHash }) => txHash)).size).toBe(records.length);
  const gone = records.filter(({ visible }) => !visible);
  expect(gone.map(({ state, stateReason }) => [state, stateReason])).toEqual(gone.map(() => ['FAILED', 'REORGED']));
  expect(sum(records, dollar)).toBe(await world.chain.tokenBalance(dollar, vault.address));
});
