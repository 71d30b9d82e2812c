import type { Address, Hex } from 'viem';
import { erc20Abi, getAddress, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import { report } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld } from '../world.ts';

/**
 * Covers incoming payments of a vault. The monitor that reports them may be wrong: a report counts
 * only if the chain confirms it.
 */

const SPLIT = parseAbi(['function split(address one, address two) payable']);

let world: World;
let vault: ReadyVault;
let dollar: Address;
let splitter: Address;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  dollar = getAddress(await world.chain.deployDollar(vault.address, 1_000n));
  splitter = getAddress(await world.chain.deploy('Movers.sol', 'Splitter'));
});
afterAll(() => world.end());

const client = () => anvilClient(world.chainUrl);

const notify = (hash: string) => report(world.stack().monitor, hash);
const outsider = async (): Promise<Address> => getAddress(await world.chain.account(8));

async function mined(hash: Hex): Promise<Hex> {
  await client().mined(hash);
  return hash;
}

/** More than the dust that is hidden without a price. */
const PAYMENT = 5_000_000_000n;

async function pay(value: bigint): Promise<Hex> {
  return mined(await client().sendTransaction({ account: await outsider(), to: getAddress(vault.address), value }));
}

async function payTokens(units: bigint): Promise<Hex> {
  const account = getAddress(await world.chain.account(0));
  const args = [getAddress(vault.address), units] as const;
  const transfer = { account, address: dollar, abi: erc20Abi, functionName: 'transfer', args } as const;
  return mined(await client().writeContract(transfer));
}

/** Pays half of `value` to the vault through a contract, which emits no log. */
async function payThroughContract(value: bigint): Promise<Hex> {
  const account = await outsider();
  const args = [getAddress(vault.address), account] as const;
  return mined(
    await client().writeContract({ account, address: splitter, abi: SPLIT, functionName: 'split', args, value }),
  );
}

async function recordsOf(hash: string): Promise<readonly TransactionRecord[]> {
  return (await allRecords()).filter(({ txHash }) => txHash === hash);
}

async function allRecords(): Promise<readonly TransactionRecord[]> {
  const { alice } = world.people();
  const param = { vaultId: String(vault.id) };
  const answer = await alice.client.api.vault[':vaultId'].transactions.$get({
    param,
    query: { visible: 'all', limit: '100' },
  });
  return (await answer.json()).transactions;
}

const appears = (hash: string) =>
  pollUntil(`a record of ${hash}`, async () => (await recordsOf(hash))[0] ?? null, 20_000);

/**
 * Waits until every earlier report is processed. For this the function sends a later report, which
 * is processed after them.
 */
async function everythingIsSeen(): Promise<void> {
  const hash = await pay(PAYMENT);
  expect(await notify(hash)).toBe(200);
  await appears(hash);
}

test('an incoming payment is in the history, with its sender and amount', async () => {
  const hash = await pay(PAYMENT);
  expect(await notify(hash)).toBe(200);
  const record = await appears(hash);
  expect(record).toMatchObject({
    kind: 'activity',
    displayType: 'RECEIVED',
    direction: 'in',
    from: await outsider(),
    to: vault.address,
    amount: PAYMENT.toString(),
    feePaid: null,
    visible: true,
    actionsForMe: [],
    asset: { tokenAddress: null, symbol: 'ETH', decimals: 18, trust: 'native', imitates: null },
  });
  const { alice, mallory } = world.people();
  const done = await finished(alice, record.id);
  expect([done.state, done.finality]).toEqual(['SUCCEEDED', 'confirmed']);
  expect((await mallory.client.request('GET', `/transaction/${record.id}`)).status).toBe(403);
  expect((await alice.client.request('POST', `/transaction/${record.id}/approve`)).status).toBe(409);
});

test('tokens, and payments forwarded by a contract, are credited as well', async () => {
  const account = await outsider();
  await world.chain.fund(account, 10n ** 18n);
  const tokens = await payTokens(7n);
  const halves = await payThroughContract(10n);
  for (const hash of [tokens, halves]) {
    expect(await notify(hash)).toBe(200);
  }
  expect(await appears(tokens)).toMatchObject({
    amount: '7',
    asset: { tokenAddress: dollar },
    movements: [{ kind: 'erc20' }],
  });
  expect(await appears(halves)).toMatchObject({
    amount: '5',
    from: splitter,
    movements: [{ kind: 'internal', uid: 'trace:0' }],
  });
});

test('a payment that is reported twice, simultaneously and out of order gives one record', async () => {
  const hashes = [await pay(11n), await pay(12n), await pay(13n)];
  const reports = [...hashes.toReversed(), ...hashes, ...hashes].map((hash) => notify(hash));
  expect(new Set(await Promise.all(reports))).toEqual(new Set([200]));
  for (const hash of hashes) await appears(hash);
  await everythingIsSeen();
  for (const hash of hashes) expect(await recordsOf(hash)).toHaveLength(1);
});

test('a delivery that is signed correctly and reports no payment credits nothing', async () => {
  const { alice } = world.people();
  const before = await alice.client.transactions(vault.id, { limit: '100' });
  expect(await notify(`0x${'ab'.repeat(32)}`)).toBe(200);
  const elsewhere = await client().sendTransaction({ account: await outsider(), to: await outsider(), value: 1n });
  await client().mined(elsewhere);
  expect(await notify(elsewhere)).toBe(200);
  await everythingIsSeen();
  const after = await alice.client.transactions(vault.id, { limit: '100' });
  expect(after.transactions.length).toBe(before.transactions.length + 1);
});

test('the vault’s own transaction appears once, as the record that the vault already has', async () => {
  const { alice, bob } = world.people();
  const to = await world.chain.account(7);
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to, amount: '3' });
  await alice.client.approve(id);
  await bob.client.approve(id);
  const { txHash } = await finished(alice, id);
  expect(await notify(txHash ?? '')).toBe(200);
  await everythingIsSeen();
  const records = await recordsOf(txHash ?? '');
  expect(records.map((record) => [record.id, record.kind])).toEqual([[id, 'transfer']]);
});

test('a transfer of zero tokens in the vault’s name is hidden, and a member can show it', async () => {
  const account = await outsider();
  const hash = await client().writeContract({
    account,
    address: dollar,
    abi: erc20Abi,
    functionName: 'transferFrom',
    args: [getAddress(vault.address), account, 0n],
  });
  await client().mined(hash);
  await notify(hash);
  const record = await appears(hash);
  expect([record.visible, record.hiddenReason]).toEqual([false, 'ZERO_VALUE']);
  const { alice } = world.people();
  const listed = await alice.client.transactions(vault.id, { limit: '100' });
  expect(listed.transactions.some(({ id }) => id === record.id)).toBe(false);
  const param = { txId: record.id };
  const shown = await alice.client.api.transaction[':txId'].visibility.$patch({ param, json: { visible: true } });
  expect((await shown.json()).visible).toBe(true);
});

test('an open dashboard gets incoming payments live, and continues where it was after a restart', async () => {
  const { cookie } = world.people().alice;
  const listen = async (lastEventId: string) => {
    const over = new AbortController();
    const headers = { cookie, 'last-event-id': lastEventId };
    const url = `${world.stack().url}/vault/${vault.id}/events`;
    const { body } = await fetch(url, { headers, signal: over.signal });
    if (body === null) throw new Error('a stream has a body');
    return { reader: body.getReader(), hangUp: () => over.abort() };
  };
  /**
   * Reads the event stream up to the end of the event that names the hash, then closes the stream.
   */
  const receivedOf = async ({ reader, hangUp }: Awaited<ReturnType<typeof listen>>, hash: string): Promise<string> => {
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream is over, and of ${hash} it reported nothing`);
      text += decoder.decode(value, { stream: true });
      const end = text.includes(hash) ? /\nid: \d+\n\n/.exec(text.slice(text.lastIndexOf(hash))) : null;
      if (end === null) continue;
      hangUp();
      return text.slice(0, text.lastIndexOf(hash) + end.index + end[0].length);
    }
  };
  const stream = await listen('');
  const hash = await pay(17n);
  await notify(hash);
  const text = await receivedOf(stream, hash);
  expect(text).toContain('event: balance');
  const identity =
    text
      .match(/id: (\d+)/g)
      ?.at(-1)
      ?.slice(4) ?? '';
  await world.stack().kill();
  await world.restart();
  const missed = await pay(18n);
  await notify(missed);
  await appears(missed);
  expect(await receivedOf(await listen(identity), missed)).not.toContain(hash);
});

test('a payment that is reported before it is mined is shown in part, and completely with its block', async () => {
  const { alice } = world.people();
  const account = await outsider();
  const to = getAddress(vault.address);
  const args = [to, account] as const;
  await client().setAutomine(false);
  const plain = await client().sendTransaction({ account, to, value: 51n });
  const call = { account, address: splitter, abi: SPLIT, functionName: 'split', args, value: 52n } as const;
  const hidden = await client().writeContract(call);
  for (const hash of [plain, hidden]) expect(await notify(hash)).toBe(200);
  const { id } = await appears(plain);
  expect(await alice.client.read(id)).toMatchObject({ state: 'BROADCAST', amount: '51', block: null, feePaid: null });
  expect(await recordsOf(hidden)).toEqual([]);
  await client().setAutomine(true);
  await client().mine({ blocks: 1 });
  expect(await reaches(alice, id, ({ state }) => state === 'SUCCEEDED')).toMatchObject({ amount: '51' });
  expect(await appears(hidden)).toMatchObject({ amount: '26', direction: 'in' });
  expect(await recordsOf(plain)).toHaveLength(1);
});

test('a reorganised payment is FAILED and hidden, and comes back with the block that has it', async () => {
  const { alice } = world.people();
  const hash = await pay(PAYMENT);
  await notify(hash);
  const { id } = await appears(hash);
  const receipt = await client().getTransactionReceipt({ hash });
  const raw = await client().request({ method: 'eth_getRawTransactionByHash' as never, params: [hash] as never });
  await client().request({ method: 'anvil_reorg' as never, params: [1, []] as never });
  await notify(hash);
  const gone = await reaches(alice, id, ({ state }) => state === 'FAILED');
  expect([gone.stateReason, gone.visible, gone.hiddenReason]).toEqual(['REORGED', false, 'REORGED']);
  await client().sendRawTransaction({ serializedTransaction: raw });
  await client().mined(hash);
  await notify(hash);
  const back = await reaches(alice, id, ({ state }) => state === 'SUCCEEDED');
  expect([back.visible, back.block?.hash === receipt.blockHash]).toEqual([true, false]);
  expect(await recordsOf(hash)).toHaveLength(1);
});

test('an unreported payment is found by a rescan, once, and only members with the permission start one', async () => {
  const money = await pay(31n);
  const tokens = await payTokens(32n);
  const halves = await payThroughContract(66n);
  const { alice, mallory } = world.people();
  const path = `/vault/${vault.id}/reprocess-incoming-transactions`;
  expect((await mallory.client.request('POST', path)).status).toBe(403);
  const before = await allRecords();
  const { reportId, ...answer } = await alice.client.requestRescan(vault.id);
  expect(answer).toEqual({ accepted: true, chains: ['anvil'] });
  expect((await alice.client.request('POST', path)).status).toBe(202);
  for (const [hash, amount] of [
    [money, '31'],
    [tokens, '32'],
    [halves, '33'],
  ] as const) {
    expect(await appears(hash)).toMatchObject({ amount, direction: 'in' });
  }
  await everythingIsSeen();
  for (const hash of [money, tokens, halves]) expect(await recordsOf(hash)).toHaveLength(1);
  const reports = alice.client.api.vault[':vaultId']['reprocess-report'];
  const readReport = async () => {
    const now = await unwrap(reports[':reportId'].$get({ param: { vaultId: String(vault.id), reportId } }));
    return now.state === 'open' ? null : now;
  };
  const ended = await pollUntil('the report', readReport, 20_000);
  const [wallet] = ended.wallets;
  expect([ended.state, ended.wallets.length, wallet?.chain, wallet?.notCovered]).toEqual(['done', 1, 'anvil', []]);
  const added = (await allRecords()).length - before.length;
  expect([wallet?.pending, wallet?.incompleteBlocks]).toEqual([0, 0]);
  // The monitor reported the payment of `everythingIsSeen`.
  expect(wallet?.new).toBeGreaterThanOrEqual(3);
  expect(wallet?.new).toBeLessThanOrEqual(added);
  expect(wallet?.found).toBe((wallet?.known ?? 0) + (wallet?.new ?? 0) + (wallet?.unrecorded ?? 0));
});
