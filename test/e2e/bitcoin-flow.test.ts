import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransferBody } from '#local/client.ts';
import type { BitcoinNode } from '#local/bitcoin-node.ts';
import { startBitcoinNode } from '#local/bitcoin-node.ts';
import type { ReadyVault } from '#local/provision.ts';
import { adapterAt, attemptOf, BTC, payment, stranger, units, Wallet } from '../chains/bitcoin/cast.ts';
import type { World } from './world.ts';
import { finished, reaches, startWorld, taken } from './world.ts';

/** Coins and fees of Bitcoin through the whole stack: what is dear waits, and nothing is raised far without a person. */

const CHAIN = 'bitcoin-regtest';

let node: BitcoinNode;
let world: World;
let vault: ReadyVault;
let wallet: string;

beforeAll(async () => {
  node = await startBitcoinNode();
  world = await startWorld({ bitcoinUrl: node.url });
  vault = await world.vault('treasury', { chains: [CHAIN] });
  wallet = vault.addresses[CHAIN] ?? '';
  for (let i = 0; i < 6; i++) node.ledger.fund(wallet, 2n * BTC);
});
afterAll(async () => {
  await world.end();
  await node.stop();
});

const body = (to: string, differences: Partial<TransferBody> = {}): TransferBody => ({
  vaultId: vault.id,
  chain: CHAIN,
  to,
  amount: BTC.toString(),
  ...differences,
});

test('a price above the cap is waited for, and the payment is made once it has fallen', async () => {
  const { alice } = world.people();
  const to = stranger();
  node.rates['3'] = 1_500;
  const id = await world.approved(body(to));
  const dear = await reaches(alice, id, ({ stateReason }) => stateReason === 'FEE_ABOVE_CAP');
  expect([dear.state, dear.attempts.length, dear.maxFee]).toEqual(['SIGNING', 0, '150000']);
  node.rates['3'] = 2;
  await taken(alice, id);
  delete node.rates['3'];
  node.ledger.mine();
  expect([(await finished(alice, id)).state, node.ledger.balance(to)]).toEqual(['SUCCEEDED', BTC]);
});

test('the cap of a payment of many coins follows from its size', async () => {
  const many = await world.vault('many coins', { chains: [CHAIN] });
  const own = many.addresses[CHAIN] ?? '';
  for (let i = 0; i < 20; i++) node.ledger.fund(own, BTC);
  const { alice } = world.people();
  const created = await alice.client.transfer(body(stranger(), { vaultId: many.id, amount: (15n * BTC).toString() }));
  // 16 inputs of 57.5 virtual bytes, two outputs of 43, and 10.5, at 500 satoshi.
  expect(created.maxFee).toBe(String(500n * 1017n));
});

test('a recipient who makes a replacement dear is paid for it only when a person asks', async () => {
  const { alice } = world.people();
  const mallory = new Wallet();
  const id = await world.approved(body(mallory.address));
  const first = await taken(alice, id);
  const child = {
    ...payment(mallory.address, { to: mallory.address, amount: units(0n) }),
    paysFor: first.txHash ?? '',
  };
  const adapter = adapterAt(node.url);
  node.rates['1'] = 200;
  const quote = await adapter.quote(child, null);
  delete node.rates['1'];
  if (!quote.ok) throw new Error(quote.refusal.kind);
  const attempt = attemptOf(adapter.compose(child, quote.value, 0n));
  const pinned = adapter.assemble(child, attempt, mallory.sign(child, attempt.payload));
  if (!pinned.ok) throw new Error(pinned.refusal.detail);
  expect(await adapter.broadcast(pinned.value.raw, pinned.value.hash)).toEqual({ outcome: 'accepted' });
  const speedUp = async () => {
    expect((await alice.client.ask('POST', `/transaction/${id}/speed-up`)).status).toBe(200);
  };
  await speedUp();
  const stopped = await reaches(alice, id, ({ stateReason }) => stateReason === 'SPEED_UP_NEEDED');
  expect([stopped.state, stopped.attempts.map(({ outcome }) => outcome)]).toEqual([
    'BROADCAST',
    ['underpriced', 'refused'],
  ]);
  expect(stopped.attempts[1]?.answer).toContain('less fees than conflicting txs');
  await speedUp();
  const paid = await reaches(alice, id, ({ attempts }) => attempts[2]?.outcome === 'accepted');
  expect(node.ledger.waiting().map(({ hash }) => hash)).toEqual([paid.attempts[2]?.hash]);
  node.ledger.mine();
  expect([(await finished(alice, id)).state, node.ledger.balance(mallory.address)]).toEqual(['SUCCEEDED', BTC]);
});
