import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { BTC, stranger } from '../../chains/bitcoin/cast.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld, taken } from '../world.ts';

/** Covers the locks of UTXOs, and their list, through the whole stack. */

const CHAIN = 'bitcoin-regtest';

let node: BitcoinNode;
let world: World;

beforeAll(async () => {
  node = await startBitcoinNode();
  world = await startWorld({ bitcoinUrl: node.url });
});
afterAll(async () => {
  await world.end();
  await node.stop();
});

interface List {
  readonly data: readonly Record<string, unknown>[];
  readonly nextCursor: string | null;
  readonly locks: readonly Record<string, unknown>[];
}

async function wallet(name: string) {
  const { id, addresses } = await world.vault(name, { chains: [CHAIN] });
  const { alice } = world.people();
  return {
    id,
    address: addresses[CHAIN] ?? '',
    pay: (amount: bigint) => world.approved({ vaultId: id, chain: CHAIN, to: stranger(), amount: amount.toString() }),
    set: (change: 'lock' | 'unlock', txid: string, { client } = alice, vout = 0) =>
      client.request<Record<string, unknown>>('POST', `/vault/${id}/utxos/${change}`, {
        body: { chain: CHAIN, txid, vout },
      }),
    list: async () => (await alice.client.request<List>('GET', `/vault/${id}/utxos?chain=${CHAIN}`)).body,
  };
}

const spentBy = (hash: string | null | undefined) => node.chain.find(hash ?? '')?.inputs.map(({ txid }) => txid);

test('a locked UTXO is listed, is spent by no payment, and is spent again after the unlock', async () => {
  const { id, address, pay, set, list } = await wallet('locked');
  const { alice, bob, mallory } = world.people();
  const [small, large] = [BTC, 3n * BTC].map((amount) => node.chain.fund(address, amount));
  const carrier = node.chain.fund(address, 546n);
  const locked = await set('lock', small ?? '');
  expect(locked).toMatchObject({ status: 200, body: { txid: small, vout: 0, lockedBy: alice.id } });
  expect((await set('lock', small ?? '', bob)).body).toEqual(locked.body);
  expect((await set('lock', large ?? '', mallory)).status).toBe(403);
  expect((await list()).data).toEqual([
    expect.objectContaining({ txid: large, amount: '300000000', lock: null, mayCarryMore: false, proven: true }),
    expect.objectContaining({ txid: small, amount: '100000000', lock: locked.body, spentBy: null }),
    expect.objectContaining({ txid: carrier, amount: '546', mayCarryMore: true, confirmations: expect.any(Number) }),
  ]);
  const first = await pay(BTC / 2n);
  await taken(alice, first);
  // The bytes of the payment spend the UTXO, so a lock would not stop it.
  expect(await set('lock', large ?? '')).toMatchObject({
    status: 409,
    body: { code: 'utxo-in-flight', transactionId: first },
  });
  node.chain.mine(6);
  expect(spentBy((await finished(alice, first)).txHash)).toEqual([large]);
  for (const person of [alice, bob]) expect((await set('unlock', small ?? '', person)).status).toBe(204);
  expect((await list()).locks).toEqual([]);
  const second = await pay(BTC / 2n);
  await taken(alice, second);
  node.chain.mine();
  expect(spentBy((await finished(alice, second)).txHash)).toEqual([small]);
  const history = await alice.client.request<{ data: readonly Record<string, unknown>[] }>(
    'GET',
    `/vault/${id}/history?limit=500`,
  );
  const lines = JSON.stringify(history.body);
  expect([lines.split('"lock-utxo"').length - 1, lines.split('"unlock-utxo"').length - 1]).toEqual([1, 1]);
});

test('a lock between approval and signing makes the payment use another UTXO, or fail for lack of funds', async () => {
  const { address, pay, set } = await wallet('late');
  const { alice } = world.people();
  const only = node.chain.fund(address, 2n * BTC);
  node.rates['3'] = 1_500;
  const [id, other] = [await pay(BTC), await pay(BTC / 4n)];
  for (const one of [id, other]) await reaches(alice, one, ({ stateReason }) => stateReason === 'FEE_ABOVE_CAP');
  await set('lock', only);
  const spare = node.chain.fund(address, BTC / 2n);
  node.rates['3'] = 2;
  await taken(alice, other);
  node.chain.mine(6);
  expect(spentBy((await finished(alice, other)).txHash)).toEqual([spare]);
  // It waits for the other payment, which could have released its funds.
  const failed = await finished(alice, id);
  expect([failed.state, failed.stateReason, failed.attempts.length]).toEqual(['FAILED', 'INSUFFICIENT_FUNDS', 0]);
  delete node.rates['3'];
});

test('an estimate, a creation and a consolidation count no locked UTXO, and a wrong outpoint is refused', async () => {
  const { id, address, set } = await wallet('counted');
  const { alice } = world.people();
  const [own] = [2n * BTC, BTC].map((amount) => node.chain.fund(address, amount));
  await set('lock', own ?? '');
  const body = { vaultId: id, chain: CHAIN, to: stranger(), amount: (2n * BTC - 10_000n).toString() };
  for (const path of ['/transaction/estimate-fee', '/transaction/transfer']) {
    const refused = await alice.client.request('POST', path, { body });
    expect([path, refused.status, refused.body]).toMatchObject([path, 422, { code: 'insufficient-funds' }]);
  }
  const joined = await alice.client.request('POST', `/vault/${id}/consolidate`, { body: { chain: CHAIN } });
  expect([joined.status, joined.body]).toMatchObject([422, { code: 'insufficient-funds' }]);
  for (const [txid, vout] of [
    ['ab', 0],
    ['AB'.repeat(32), 0],
    ['ab'.repeat(32), -1],
    ['ab'.repeat(32), 2 ** 32],
  ] as const) {
    expect((await set('lock', txid, alice, vout)).status).toBe(400);
  }
});
