import type { Address, Hex } from 'viem';
import { erc20Abi, getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import { DAILY_LIMITS } from '#domain/activity/daily-limit.ts';
import { report } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { World } from '../world.ts';
import { finished, startWorld } from '../world.ts';

/**
 * Covers payments of almost no value, and payments that imitate others: the history has them and
 * the default list omits them (spec part 8).
 */

const NATIVE = 'eip155:31337';
let world: World;
let vault: ReadyVault;
let payer: Address;
/** A token that is priced at one dollar, as the configuration states. */
let dollar: Address;
/** A token without a price. */
let meme: Address;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  payer = getAddress(await world.chain.account(0));
  dollar = getAddress(await world.chain.deployDollar(vault.address, 1_000_000n));
  meme = getAddress(await world.chain.deployDollar(await world.chain.account(5), 1_000_000n));
  await world.stack().stop();
  await world.restart({ prices: { [NATIVE]: '2500', [`${NATIVE}/erc20:${dollar}`]: '1.00' } });
});
afterAll(() => world.end());

const client = () => anvilClient(world.chainUrl);

async function recordOf(hash: Hex): Promise<TransactionRecord> {
  await client().mined(hash);
  expect(await report(world.stack().monitor, hash)).toBe(200);
  const { alice } = world.people();
  const observation = async () => {
    const param = { vaultId: String(vault.id) };
    const query = { visible: 'all', limit: '100' } as const;
    const list = await unwrap(alice.client.api.vault[':vaultId'].transactions.$get({ param, query }));
    return list.transactions.find(({ txHash }) => txHash === hash) ?? null;
  };
  return pollUntil(`a record of ${hash}`, observation, 20_000);
}

async function receive(token: Address, units: bigint): Promise<TransactionRecord> {
  const args = [getAddress(vault.address), units] as const;
  const transfer = { account: payer, address: token, abi: erc20Abi, functionName: 'transfer', args } as const;
  return recordOf(await client().writeContract(transfer));
}

const judged = ({ visible, hiddenReason, usdValue }: TransactionRecord) => [visible, hiddenReason, usdValue];
const listed = async () => (await world.people().alice.client.transactions(vault.id, { limit: '100' })).transactions;

test('half a cent of a token is shown, and a millionth of a dollar less is hidden until a member shows it', async () => {
  const enough = await receive(dollar, 5_000n);
  expect(judged(enough)).toEqual([true, null, '0.005']);
  expect(enough.asset).toEqual({
    tokenAddress: dollar,
    symbol: 'DUSD',
    decimals: 6,
    trust: 'unlisted',
    imitates: null,
  });
  const little = await receive(dollar, 4_999n);
  expect(judged(little)).toEqual([false, 'LOW_VALUE', '0.004999']);
  expect((await listed()).map(({ id }) => id)).not.toContain(little.id);
  const { alice } = world.people();
  const param = { txId: little.id };
  await unwrap(alice.client.api.transaction[':txId'].visibility.$patch({ param, json: { visible: true } }));
  await report(world.stack().monitor, little.txHash ?? '');
  expect((await listed()).map(({ id }) => id)).toContain(little.id);
});

async function payNative(value: bigint): Promise<TransactionRecord> {
  return recordOf(await client().sendTransaction({ account: payer, to: getAddress(vault.address), value }));
}

test('half a cent of the native asset is shown, and less is hidden', async () => {
  expect(judged(await payNative(2_000_000_000_000n))).toEqual([true, null, '0.005']);
  expect(judged(await payNative(1n))).toEqual([false, 'LOW_VALUE', '0.00']);
});

test('a token without a price is hidden until the vault has sent it itself', async () => {
  expect(judged(await receive(meme, 50_000n))).toEqual([false, 'UNKNOWN_TOKEN', null]);
  const { alice, bob } = world.people();
  const order = { vaultId: vault.id, chain: 'anvil', to: payer, amount: '10', tokenAddress: meme };
  const { id } = await alice.client.transfer(order);
  await alice.client.approve(id);
  await bob.client.approve(id);
  const sent = await finished(alice, id);
  // A token without a price has no market value. Its name is known nevertheless.
  expect([sent.state, sent.usdValue, sent.movements[0]?.asset.symbol]).toEqual(['SUCCEEDED', null, 'DUSD']);
  expect(judged(await receive(meme, 50_000n))).toEqual([true, null, null]);
});

test('dust from an address that begins and ends like a paid recipient is hidden', async () => {
  const twin = getAddress(`${payer.slice(0, 6)}${'0'.repeat(30)}${payer.slice(-6)}`);
  await client().impersonateAccount({ address: twin });
  await client().setBalance({ address: twin, value: 10n ** 18n });
  const dust = await client().sendTransaction({ account: twin, to: getAddress(vault.address), value: 1n });
  expect(judged(await recordOf(dust))).toEqual([false, 'LOOKALIKE', '0.00']);
  const money = 10n ** 15n;
  const real = await client().sendTransaction({ account: twin, to: getAddress(vault.address), value: money });
  expect(judged(await recordOf(real))).toEqual([true, null, '2.50']);
});

test('a payment of the vault itself has its market value, too', async () => {
  const { alice, bob } = world.people();
  const order = { vaultId: vault.id, chain: 'anvil', to: payer, amount: '250000', tokenAddress: dollar };
  const { id } = await alice.client.transfer(order);
  await alice.client.approve(id);
  await bob.client.approve(id);
  const sent = await finished(alice, id);
  expect([sent.usdValue, sent.pricedAt === null]).toEqual(['0.25', false]);
});

test('the balances of the vault have a market value', async () => {
  const { alice } = world.people();
  await alice.client.requestRescan(vault.id);
  await client().mine({ blocks: 70 });
  const observation = async () => {
    const { balances } = await alice.client.balances(vault.id);
    const dollars = balances.find(({ asset }) => asset.tokenAddress === dollar);
    return dollars?.usdValue === '0.759999' && dollars.amount === '759999' ? balances : null;
  };
  const balances = await pollUntil('the worth of all dollars', observation, 30_000);
  expect(balances.find(({ asset }) => asset.tokenAddress === meme)?.usdValue).toBeNull();
});

test('dust above the daily limit is in the balance without a record, and without an adjustment', async () => {
  const { alice } = world.people();
  const to = getAddress(vault.address);
  for (let i = 0; i < DAILY_LIMITS.hidden + 5; i++) {
    await client().sendTransaction({ account: payer, to, value: 1n });
  }
  await client().mine({ blocks: 70 });
  await alice.client.requestRescan(vault.id);
  const onChain = (await client().getBalance({ address: to })).toString();
  const observation = async () => {
    const { balances } = await alice.client.balances(vault.id);
    const native = balances.find(({ kind }) => kind === 'native');
    return native?.amount === onChain && native.agreement === 'agrees' ? native : null;
  };
  const native = await pollUntil('the balance of the chain', observation, 110_000, 500);
  expect(native.adjustment).toBeNull();
  const param = { vaultId: String(vault.id) };
  const linesAfter = async (after: number) => {
    const query = { after: String(after), limit: '100' };
    return (await unwrap(alice.client.api.vault[':vaultId'].history.$get({ param, query }))).history;
  };
  const lines = (await Promise.all([0, 100, 200, 300].map(linesAfter))).flat();
  const omitted = lines.filter(({ action }) => action === 'omit-spam').map(({ detail }) => JSON.parse(detail ?? '{}'));
  expect(omitted).toMatchObject([{ chain: 'anvil', kind: 'hidden', recorded: DAILY_LIMITS.hidden }]);
});
