import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Bitcoind } from '#local/bitcoin/bitcoind.ts';
import { findBitcoind, startBitcoind } from '#local/bitcoin/bitcoind.ts';
import type { TransactionRecord } from '#cli/api-client.ts';
import { report } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { BTC, REGTEST, stranger } from '../../chains/bitcoin/cast.ts';
import { present } from '../../chains/evm/cast.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld, taken } from '../world.ts';

/**
 * Repeats the Bitcoin tests against Bitcoin Core, because its rules decide what real nodes relay
 * and mine. The other files use the regtest of this project. The tests run only if a `bitcoind` is
 * found (`BITCOIND`, or `bitcoind` on the PATH).
 */

const CHAIN = 'bitcoin-regtest';
const binary = findBitcoind();
if (binary === null) console.log('no bitcoind was found: its tests are left out');

describe.skipIf(binary === null).each(['p2tr', 'p2wpkh'] as const)('%s', (bitcoinAddressType) => {
  let bitcoind: Bitcoind;
  let world: World;
  let vault: ReadyVault;
  let wallet: string;

  beforeAll(async () => {
    bitcoind = await startBitcoind(present(binary));
    world = await startWorld({ bitcoinUrl: bitcoind.url });
    vault = await world.vault('treasury', { chains: [CHAIN], bitcoinAddressType });
    wallet = vault.addresses[CHAIN] ?? '';
    for (let i = 0; i < 6; i++) await bitcoind.pay(wallet, 2n * BTC);
  });
  afterAll(async () => {
    await world.end();
    await bitcoind.stop();
  });

  const approved = (to: string, units: bigint) =>
    world.approved({ vaultId: vault.id, chain: CHAIN, to, amount: units.toString() });

  const waits = (id: string) => taken(world.people().alice, id);
  const done = (id: string) => finished(world.people().alice, id);

  async function recordOf(hash: string, requested: (record: TransactionRecord) => boolean): Promise<TransactionRecord> {
    const { alice } = world.people();
    const observation = async () => {
      const { transactions } = await alice.client.transactions(vault.id);
      return transactions.find((one) => one.txHash === hash && requested(one)) ?? null;
    };
    return pollUntil(`the record of ${hash}`, observation, 30_000);
  }

  test('a payment of several UTXOs with its change is mined, and its record has the exact fee', async () => {
    const to = stranger();
    const id = await approved(to, 5n * BTC);
    await waits(id);
    await bitcoind.mine();
    const record = await done(id);
    const paid = bitcoind.chain.find(record.txHash ?? '');
    expect([record.state, paid?.inputs.length, paid?.outputs.length]).toEqual(['SUCCEEDED', 3, 2]);
    expect([bitcoind.chain.balance(to), paid?.fee.toString()]).toEqual([5n * BTC, record.feePaid]);
  });

  test('the RPC node relays the smallest amount above dust, and accepts a replacement and a cancellation for their fees', async () => {
    const { alice } = world.people();
    const [least, undone] = [stranger(), stranger()];
    for (const [to, units, action] of [
      [least, 330n, 'speed-up'],
      [undone, BTC, 'cancel'],
    ] as const) {
      const id = await approved(to, units);
      const first = await waits(id);
      expect((await alice.client.request('POST', `/transaction/${id}/${action}`)).status).toBe(200);
      const replaced = await reaches(alice, id, ({ attempts }) => attempts[1]?.outcome === 'accepted');
      await bitcoind.refresh();
      const waiting = bitcoind.chain.waiting().map(({ hash }) => hash);
      expect([waiting, waiting.includes(first.txHash ?? '')]).toEqual([[replaced.attempts[1]?.hash], false]);
      await bitcoind.mine();
      expect((await done(id)).state).toBe(action === 'cancel' ? 'CANCELLED' : 'SUCCEEDED');
    }
    expect([bitcoind.chain.balance(least), bitcoind.chain.balance(undone)]).toEqual([330n, 0n]);
  });

  test('a transaction that a reorganisation removes is included again, once', async () => {
    await world.stack().stop();
    await world.restart({ chains: [{ name: CHAIN, confirmations: 2 }] });
    const to = stranger();
    const id = await approved(to, BTC);
    await waits(id);
    await bitcoind.mine();
    await reaches(world.people().alice, id, ({ state }) => state === 'CONFIRMING');
    await bitcoind.reorganise(1);
    expect(bitcoind.chain.balance(to)).toBe(0n);
    await bitcoind.mine(2);
    const record = await done(id);
    expect([record.state, record.attempts.length, bitcoind.chain.balance(to)]).toEqual(['SUCCEEDED', 1, BTC]);
  });

  test('a child that pays for its parent is relayed with it, and both are mined', async () => {
    const { alice } = world.people();
    const hash = await bitcoind.pay(wallet, BTC, false);
    await report(world.stack().monitor, { txHash: hash, chain: REGTEST });
    const parent = await recordOf(hash, () => true);
    const proposed = await alice.client.request<TransactionRecord>(
      'POST',
      `/transaction/${parent.id}/child-pays-for-parent`,
    );
    expect([proposed.status, proposed.body.paysFor]).toEqual([201, hash]);
    const { id } = proposed.body;
    await world.approve(id);
    const { txHash } = await waits(id);
    await bitcoind.refresh();
    const child = bitcoind.chain.find(txHash ?? '');
    expect(child?.inputs.map(({ txid }) => txid)).toEqual([hash]);
    await bitcoind.mine(2);
    expect([(await done(id)).state, bitcoind.chain.heightOf(hash)]).toEqual([
      'SUCCEEDED',
      bitcoind.chain.heightOf(txHash ?? ''),
    ]);
  });

  test('incoming bitcoin is BROADCAST before a block includes it, and SUCCEEDED afterwards', async () => {
    const hash = await bitcoind.pay(wallet, 12_345n, false);
    await report(world.stack().monitor, { txHash: hash, chain: REGTEST });
    expect(await recordOf(hash, () => true)).toMatchObject({ state: 'BROADCAST', amount: '12345', to: wallet });
    await bitcoind.mine(2);
    const received = await recordOf(hash, ({ state }) => state === 'SUCCEEDED');
    expect(received).toMatchObject({ displayType: 'RECEIVED', amount: '12345', confirmations: 2 });
  });
});
