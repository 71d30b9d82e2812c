import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { clientAt, attemptOf, BTC, payment, stranger, units, Wallet } from '../../chains/bitcoin/cast.ts';
import type { World } from '../world.ts';
import { finished, reaches, refusalOf, startWorld, taken } from '../world.ts';

/**
 * Covers UTXOs and fees of Bitcoin through the whole stack: an expensive payment waits, and only a
 * person raises a fee far.
 */

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
  for (let i = 0; i < 6; i++) node.chain.fund(wallet, 2n * BTC);
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

test('a payment whose price is above the fee cap waits, and is sent once the price has fallen', async () => {
  const { alice } = world.people();
  const to = stranger();
  node.rates['3'] = 1_500;
  const id = await world.approved(body(to));
  const dear = await reaches(alice, id, ({ stateReason }) => stateReason === 'FEE_ABOVE_CAP');
  expect([dear.state, dear.attempts.length, dear.maxFee]).toEqual(['SIGNING', 0, '150000']);
  node.rates['3'] = 2;
  await taken(alice, id);
  delete node.rates['3'];
  node.chain.mine();
  expect([(await finished(alice, id)).state, node.chain.balance(to)]).toEqual(['SUCCEEDED', BTC]);
});

test('the fee cap of a payment of many UTXOs follows from its size', async () => {
  const many = await world.vault('many coins', { chains: [CHAIN] });
  const own = many.addresses[CHAIN] ?? '';
  for (let i = 0; i < 20; i++) node.chain.fund(own, BTC);
  const { alice } = world.people();
  const created = await alice.client.transfer(body(stranger(), { vaultId: many.id, amount: (15n * BTC).toString() }));
  // The size is 16 inputs of 57.5 virtual bytes, two outputs of 43 and an overhead of 10.5. The
  // rate is 500 satoshi.
  const largest = String(500n * 1017n);
  expect(created.maxFee).toBe(largest);
  const large = (maxFee: string) => body(stranger(), { vaultId: many.id, amount: (15n * BTC).toString(), maxFee });
  expect((await alice.client.transfer(large(largest))).maxFee).toBe(largest);
  const above = await alice.client.request<{ code: string; largest: string }>('POST', '/transaction/transfer', {
    body: large((500n * 1017n + 1n).toString()),
  });
  expect([above.status, above.body.code, above.body.largest]).toEqual([422, 'max-fee-above-cap', largest]);
});

test('the suggested maxFee is what signers approve, and leaves room for two speed-ups and no third one', async () => {
  const { alice } = world.people();
  node.rates['3'] = 10;
  const to = stranger();
  const { normal } = await unwrap(alice.client.api.transaction['estimate-fee'].$post({ json: body(to) }));
  const shown = normal.suggestedMaxFee;
  expect(BigInt(shown)).toBe(3n * BigInt(normal.maxFee));
  const low = (BigInt(normal.maxFee) - 1n).toString();
  expect(await refusalOf(alice, 'transfer', { ...body(to, { maxFee: low }) })).toEqual([422, 'max-fee-too-low']);
  const id = await world.approved(body(to, { maxFee: shown }));
  const first = await taken(alice, id);
  expect([first.maxFee, first.attempts[0]?.maxFee]).toEqual([shown, normal.maxFee]);
  const speedUp = () => alice.client.request('POST', `/transaction/${id}/speed-up`);
  for (const attempt of [1, 2]) {
    await speedUp();
    await reaches(alice, id, ({ attempts }) => attempts[attempt]?.outcome === 'accepted');
  }
  await speedUp();
  const stopped = await reaches(alice, id, ({ stateReason }) => stateReason === 'FEE_CAP_EXCEEDED');
  expect([stopped.state, stopped.attempts.length]).toEqual(['BROADCAST', 3]);
  expect(stopped.attempts.every(({ maxFee }) => BigInt(maxFee) <= BigInt(shown))).toBe(true);
  delete node.rates['3'];
  node.chain.mine();
  expect([(await finished(alice, id)).state, node.chain.balance(to)]).toEqual(['SUCCEEDED', BTC]);
});

test('a replacement that the recipient has made expensive is paid for only when a person requests it', async () => {
  const { alice } = world.people();
  const mallory = new Wallet();
  const id = await world.approved(body(mallory.address));
  const first = await taken(alice, id);
  const child = {
    ...payment(mallory.address, { to: mallory.address, amount: units(0n) }),
    paysFor: first.txHash ?? '',
  };
  const client = clientAt(node.url);
  node.rates['1'] = 200;
  const quote = await client.quote(child, null);
  delete node.rates['1'];
  if (!quote.ok) throw new Error(quote.refusal.kind);
  const attempt = attemptOf(client.rules.compose(child, quote.value, 0n));
  const pinned = client.rules.assemble(child, attempt, mallory.sign(child, attempt.payload));
  if (!pinned.ok) throw new Error(pinned.refusal.detail);
  expect(await client.broadcast(pinned.value.raw, pinned.value.hash)).toEqual({ outcome: 'accepted' });
  const speedUp = async () => {
    expect((await alice.client.request('POST', `/transaction/${id}/speed-up`)).status).toBe(200);
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
  expect(node.chain.waiting().map(({ hash }) => hash)).toEqual([paid.attempts[2]?.hash]);
  node.chain.mine();
  expect([(await finished(alice, id)).state, node.chain.balance(mallory.address)]).toEqual(['SUCCEEDED', BTC]);
});

test('the smallest UTXOs of a wallet are consolidated, as approved, and the large one is left alone', async () => {
  const scattered = await world.vault('scattered', { chains: [CHAIN] });
  const own = scattered.addresses[CHAIN] ?? '';
  for (let i = 0; i < 8; i++) node.chain.fund(own, 20_000n);
  const carrier = node.chain.fund(own, 10_000n);
  const large = node.chain.fund(own, 2n * BTC);
  const { alice, bob } = world.people();
  const path = `/vault/${scattered.id}/consolidate`;
  const created = await alice.client.request<TransactionRecord>('POST', path, { body: { chain: CHAIN, coins: 7 } });
  const named = await alice.client.request<TransactionRecord>('POST', path, {
    body: { chain: CHAIN, coins: 7, maxFee: '200000' },
  });
  expect([named.status, named.body.maxFee]).toEqual([201, '200000']);
  expect([created.status, created.body.state, created.body.to, created.body.amount]).toEqual([
    201,
    'SUBMITTED',
    own,
    '0',
  ]);
  expect([created.body.note, created.body.speed, created.body.maxFee]).toEqual([
    'Consolidates up to 7 of the smallest UTXOs of the wallet',
    'slow',
    // The size is seven inputs of 57.5 virtual bytes, one output of 43 and an overhead of 10.5. The
    // rate is 500 satoshi.
    String(500n * 456n),
  ]);
  await alice.client.approve(created.body.id);
  await bob.client.approve(created.body.id);
  await taken(alice, created.body.id);
  const [waiting] = node.chain.waiting();
  expect([waiting?.inputs.length, waiting?.outputs.length]).toEqual([7, 1]);
  node.chain.mine();
  const record = await finished(alice, created.body.id);
  expect([record.state, node.chain.balance(own)]).toEqual(['SUCCEEDED', 170_000n + 2n * BTC - (waiting?.fee ?? 0n)]);
  expect([large, carrier].map((hash) => node.chain.spenderOf(hash, 0))).toEqual([null, null]);
});

test('UTXOs that may carry more are consolidated on request alone, and the note that signers approve says so', async () => {
  const carrying = await world.vault('carrying', { chains: [CHAIN] });
  const own = carrying.addresses[CHAIN] ?? '';
  const carriers = [10_000n, 9_000n].map((amount) => node.chain.fund(own, amount));
  const { alice, bob } = world.people();
  const path = `/vault/${carrying.id}/consolidate`;
  const without = await alice.client.request<{ code: string }>('POST', path, { body: { chain: CHAIN } });
  expect([without.status, without.body.code]).toEqual([422, 'insufficient-funds']);
  const carried = { chain: CHAIN, includeMayCarryMore: true };
  const long = await alice.client.request('POST', path, { body: { ...carried, note: 'n'.repeat(450) } });
  expect([long.status, JSON.stringify(long.body)]).toEqual([400, expect.stringContaining('/note')]);
  const created = await alice.client.request<TransactionRecord>('POST', path, { body: { ...carried, note: 'Tidy' } });
  expect(created.body.note).toBe(
    'Tidy. Includes UTXOs of up to 10,000 satoshi, which may carry inscriptions, runes or ordinals',
  );
  await alice.client.approve(created.body.id);
  await bob.client.approve(created.body.id);
  await taken(alice, created.body.id);
  node.chain.mine();
  expect((await finished(alice, created.body.id)).state).toBe('SUCCEEDED');
  expect(carriers.every((hash) => node.chain.spenderOf(hash, 0) !== null)).toBe(true);
});

test('a consolidation is refused on other chains, and for a wallet with one UTXO', async () => {
  const { alice } = world.people();
  const path = (id: number) => `/vault/${id}/consolidate`;
  const elsewhere = await alice.client.request<{ code: string }>('POST', path(vault.id), { body: { chain: 'anvil' } });
  expect(elsewhere.body.code).toBe('not-on-this-chain');
  for (const utxos of [1, 51, '7']) {
    const wrong = await alice.client.request('POST', path(vault.id), { body: { chain: CHAIN, coins: utxos } });
    expect(wrong.status).toBe(400);
  }
  const tidy = await world.vault('tidy', { chains: [CHAIN] });
  node.chain.fund(tidy.addresses[CHAIN] ?? '', BTC);
  const nothing = await alice.client.request<{ code: string }>('POST', path(tidy.id), { body: { chain: CHAIN } });
  expect([nothing.status, nothing.body.code]).toEqual([422, 'insufficient-funds']);
});
