import type { Address, Hex } from 'viem';
import { encodeFunctionData, erc20Abi, getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BalanceRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import { report } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { World } from '../world.ts';
import { finished, startWorld } from '../world.ts';

/**
 * Covers the balances of a vault: they match the chain however the assets moved, and a difference
 * is found, reported and corrected.
 */

const eventually = <T>(what: string, observation: () => Promise<T | null>) => pollUntil(what, observation, 30_000);

let world: World;
let vault: ReadyVault;
let dollar: Address;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  dollar = getAddress(await world.chain.deployDollar(vault.address, 1_000n));
});
afterAll(() => world.end());

const client = () => anvilClient(world.chainUrl);

async function balances(): Promise<readonly BalanceRecord[]> {
  return (await world.people().alice.client.balances(vault.id)).balances;
}

/**
 * Waits until the service states exactly the native and dollar balances of the chain, and reports
 * that both agree.
 */
async function agreement(): Promise<readonly BalanceRecord[]> {
  const reported = async () => {
    const chain = world.chain;
    return [await chain.balance(vault.address), await chain.tokenBalance(dollar, vault.address)].map(String);
  };
  const amounts = (shown: readonly BalanceRecord[]) => shown.map(({ amount }) => amount);
  const onChain = String(await reported());
  await eventually(onChain, async () => (String(amounts(await balances())) === onChain ? true : null));
  await requestRescan();
  return eventually('that both agree', async () => {
    const shown = await balances();
    return shown.every((one) => one.agreement === 'agrees') ? shown : null;
  });
}

/** Makes every block so far final. Anvil calls a block final that is 64 blocks deep. */
async function everythingIsFinal(): Promise<void> {
  await client().mine({ blocks: 130 });
}

function requestRescan() {
  return world.people().alice.client.requestRescan(vault.id);
}

async function decided(response: Promise<{ readonly id: string }>) {
  const { alice, bob } = world.people();
  const { id } = await response;
  await alice.client.approve(id);
  await bob.client.approve(id);
  return finished(alice, id);
}

test('an unreported payment is found, and the balance matches the chain', async () => {
  await everythingIsFinal();
  await requestRescan();
  const shown = await agreement();
  expect(shown.map(({ kind, amount, incoming, outgoing }) => [kind, amount, incoming, outgoing])).toEqual([
    ['native', (10n ** 18n).toString(), '0', '0'],
    ['erc20', '1000', '0', '0'],
  ]);
  expect(shown.map(({ adjustment }) => adjustment)).toEqual([null, null]);
});

test('an outgoing transfer costs its amount and its fee, and a reverted call costs its fee', async () => {
  const { alice } = world.people();
  const to = await world.chain.account(7);
  const order = { vaultId: vault.id, chain: 'anvil', to };
  const native = await decided(alice.client.transfer({ ...order, amount: '300' }));
  expect(native).toMatchObject({
    displayType: 'SENT',
    movements: [{ kind: 'native', to, amount: '300' }],
    balanceChanges: [{ amount: '-300', asset: { tokenAddress: null } }],
  });
  const tokens = await decided(alice.client.transfer({ ...order, amount: '70', tokenAddress: dollar }));
  expect(tokens.balanceChanges).toMatchObject([{ amount: '-70', asset: { tokenAddress: dollar } }]);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [getAddress(to), 1n] });
  const called = await decided(
    unwrap(
      alice.client.api.transaction['contract-interaction'].$post({
        json: { vaultId: vault.id, chain: 'anvil', to: dollar, data, value: '0' },
      }),
    ),
  );
  expect([called.displayType, called.balanceChanges]).toEqual(['CONTRACT_INTERACTION', []]);
  const open = await balances();
  const fees = [native, tokens, called].reduce((sum, { feePaid }) => sum + BigInt(feePaid ?? '0'), 0n);
  expect(open.map(({ outgoing }) => outgoing)).toEqual([(300n + fees).toString(), '70']);
  expect(open.map(({ outgoingMined }) => outgoingMined)).toEqual([(300n + fees).toString(), '70']);
  await everythingIsFinal();
  for (const { txHash } of [native, tokens, called]) await report(world.stack().monitor, txHash ?? '');
  await agreement();
});

test('a payment in a block that is not final is pending in, and available when the block is final', async () => {
  const account = getAddress(await world.chain.account(8));
  const hash: Hex = await client().sendTransaction({ account, to: getAddress(vault.address), value: 11n });
  await client().mined(hash);
  await report(world.stack().monitor, hash);
  const coming = () =>
    eventually('money that comes in', async () => ((await balances())[0]?.incoming === '11' ? true : null));
  await coming();
  await client().request({ method: 'anvil_reorg' as never, params: [1, []] as never });
  await report(world.stack().monitor, hash);
  await eventually('that it is gone', async () => ((await balances())[0]?.incoming === '0' ? true : null));
  await everythingIsFinal();
  await agreement();
});

test('an unexplained difference is reported in the history, and the balance is corrected', async () => {
  const before = await world.chain.balance(vault.address);
  // Simulates a validator reward or withdrawal: the chain credits the address without a sender.
  await client().setBalance({ address: getAddress(vault.address), value: before + 5_000n });
  await client().mine({ blocks: 1 });
  await requestRescan();
  await eventually('that it differs', async () => ((await balances())[0]?.agreement === 'differs' ? true : null));
  const mended = await eventually('that it is mended', async () => {
    const [native] = await balances();
    return native?.agreement === 'agrees' ? native : null;
  });
  expect(mended.amount).toBe((before + 5_000n).toString());
  expect(mended.adjustment).toMatchObject({ amount: '5000', reason: 'UNSEEN_PAYMENT' });
  const history = await world.people().alice.client.history(vault.id);
  const [line] = history.history.filter(({ action }) => action === 'adjust-balance');
  expect([line?.reason, JSON.parse(line?.detail ?? '{}')]).toMatchObject(['UNSEEN_PAYMENT', { units: '5000' }]);
  await agreement();
});
