import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LocalBitcoinChain } from '#local/bitcoin/chain.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import type { TransactionRecord } from '#cli/api-client.ts';
import { report } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { BTC, REGTEST, stranger } from '../../chains/bitcoin/cast.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld, taken } from '../world.ts';

/**
 * Covers child pays for parent: a vault that receives a payment with too low a fee raises the fee
 * by a child transaction.
 */

const CHAIN = 'bitcoin-regtest';
const ONCE = { 'idempotency-key': 'once' };

let node: BitcoinNode;
let world: World;
let payer: ReadyVault;
let paid: ReadyVault;
let chain: LocalBitcoinChain;

beforeAll(async () => {
  node = await startBitcoinNode();
  chain = node.chain;
  world = await startWorld({ bitcoinUrl: node.url });
  payer = await world.vault('payer', { chains: [CHAIN] });
  paid = await world.vault('paid', { chains: [CHAIN] });
  for (let i = 0; i < 6; i++) chain.fund(payer.addresses[CHAIN] ?? '', 2n * BTC);
});
afterAll(async () => {
  await world.end();
  await node.stop();
});

const waits = (id: string) => taken(world.people().alice, id);

/**
 * Creates an unconfirmed payment from the vault `payer` to the vault `paid`. Returns its id, its
 * hash, and the record that `paid` has of it.
 */
async function parent(amount: bigint) {
  const to = paid.addresses[CHAIN] ?? '';
  const id = await world.approved({ vaultId: payer.id, chain: CHAIN, to, amount: amount.toString() });
  const { txHash } = await waits(id);
  const hash = txHash ?? '';
  await report(world.stack().monitor, { txHash: hash, chain: REGTEST });
  return { id, hash, observed: await seenAs(hash, () => true) };
}

function seenAs(hash: string, requested: (record: TransactionRecord) => boolean): Promise<TransactionRecord> {
  const observation = async () => {
    const { transactions } = await world.people().alice.client.transactions(paid.id);
    return transactions.find((one) => one.txHash === hash && requested(one)) ?? null;
  };
  return pollUntil(`the record of ${hash}`, observation, 30_000);
}

const childOf = (id: string, headers: Readonly<Record<string, string>> = {}, body?: object) => {
  const { alice } = world.people();
  const path = `/transaction/${id}/child-pays-for-parent`;
  return alice.client.request<TransactionRecord & { code?: string }>('POST', path, {
    headers,
    ...(body === undefined ? {} : { body }),
  });
};

test('a child is approved as any other payment, spends the output of its parent, and its fee is enough for both', async () => {
  const { alice } = world.people();
  const { hash, observed } = await parent(BTC);
  expect(observed.actionsForMe).toEqual(['child-pays-for-parent']);
  node.rates['1'] = 20;
  const [one, again] = [await childOf(observed.id, ONCE), await childOf(observed.id, ONCE)];
  expect([one.status, again.body.id]).toEqual([201, one.body.id]);
  expect(one.body).toMatchObject({ kind: 'transfer', paysFor: hash, amount: '0', state: 'SUBMITTED', attempts: [] });
  const challenge = await alice.client.request<{ intent: { paysFor: string } }>(
    'GET',
    `/transaction/${one.body.id}/challenge`,
  );
  expect(challenge.body.intent.paysFor).toBe(hash);
  const { txHash } = await waits(await world.approve(one.body.id));
  const [mother, child] = [chain.find(hash), chain.find(txHash ?? '')];
  if (mother == null || child == null) throw new Error('both wait');
  expect([child.inputs.map(({ txid }) => txid), child.outputs.length]).toEqual([[hash], 1]);
  const [fee, size] = [mother.fee + child.fee, mother.virtualSize + child.virtualSize];
  // The expected rate is the highest one: one and a half times the rate of all other payments (20).
  expect([fee >= 30n * size, fee <= 30n * size + 4n]).toEqual([true, true]);
  chain.mine();
  expect((await finished(alice, one.body.id)).state).toBe('SUCCEEDED');
  expect((await seenAs(hash, ({ state }) => state === 'SUCCEEDED')).amount).toBe(BTC.toString());
  expect(chain.balance(paid.addresses[CHAIN] ?? '')).toBe(BTC - child.fee);
  expect((await childOf(observed.id)).body.code).toBe('transaction-not-broadcast');
  delete node.rates['1'];
});

test('a child has the maxFee that its creator names, and one below the current fee is refused', async () => {
  const { alice } = world.people();
  const { observed } = await parent(BTC);
  node.rates['1'] = 20;
  const low = await childOf(observed.id, {}, { maxFee: '200' });
  expect([low.status, low.body.code]).toEqual([422, 'max-fee-too-low']);
  expect((await childOf(observed.id, {}, { maxFee: '0' })).status).toBe(400);
  expect((await childOf(observed.id, {}, { speed: 'slow' })).status).toBe(400);
  const child = await childOf(observed.id, {}, { maxFee: '30000' });
  expect([child.status, child.body.maxFee]).toEqual([201, '30000']);
  const { attempts } = await waits(await world.approve(child.body.id));
  expect(BigInt(attempts[0]?.maxFee ?? '0') <= 30_000n).toBe(true);
  delete node.rates['1'];
  chain.mine();
  expect((await finished(alice, child.body.id)).state).toBe('SUCCEEDED');
});

test('a child can be sped up itself, and only one of two children is signed', async () => {
  const { alice } = world.people();
  const { observed } = await parent(BTC);
  const [one, two] = [await childOf(observed.id), await childOf(observed.id)];
  await waits(await world.approve(one.body.id));
  await world.approve(two.body.id);
  const late = await finished(alice, two.body.id);
  expect([late.state, late.stateReason, late.attempts]).toEqual(['FAILED', 'PARENT_NOT_WAITING', []]);
  expect((await alice.client.request('POST', `/transaction/${one.body.id}/speed-up`)).status).toBe(200);
  await reaches(alice, one.body.id, ({ attempts }) => attempts[1]?.outcome === 'accepted');
  chain.mine();
  expect((await finished(alice, one.body.id)).state).toBe('SUCCEEDED');
});

test('a child fails with CONFLICTED once another transaction permanently replaces its parent', async () => {
  const { alice } = world.people();
  const { id, observed } = await parent(BTC);
  const child = await childOf(observed.id);
  await waits(await world.approve(child.body.id));
  // The payer cancels the payment. The replacement has to pay for the child that it evicts, too.
  node.rates['3'] = 100;
  expect((await alice.client.request('POST', `/transaction/${id}/cancel`)).status).toBe(200);
  await reaches(alice, id, ({ attempts }) => attempts[1]?.outcome === 'accepted');
  delete node.rates['3'];
  // The child does not end because its parent is missing. It ends when the replacement of the
  // parent is final.
  chain.mine(9);
  const over = await finished(alice, child.body.id);
  expect([over.state, over.stateReason]).toEqual(['FAILED', 'CONFLICTED']);
  // The refusal comes from the chain, or from the record of the parent once that record is up to
  // date.
  expect(['would-revert', 'transaction-not-broadcast']).toContain((await childOf(observed.id)).body.code);
});

test('a child for an outgoing payment, or by a user outside the vault, is refused', async () => {
  const { alice, mallory } = world.people();
  const { id } = await alice.client.transfer({
    vaultId: payer.id,
    chain: CHAIN,
    to: stranger(),
    amount: BTC.toString(),
  });
  expect((await childOf(id)).body.code).toBe('transaction-not-broadcast');
  const { observed } = await parent(BTC);
  const path = `/transaction/${observed.id}/child-pays-for-parent`;
  expect((await mallory.client.request('POST', path)).status).toBe(403);
  chain.mine();
});
