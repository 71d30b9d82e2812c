import { afterAll, beforeAll, expect, test } from 'vitest';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import type { LocalBitcoinChain } from '#local/bitcoin/chain.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { report } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { isBip322 } from '../../chains/bitcoin/bip322.ts';
import { present } from '../../chains/evm/cast.ts';
import { BTC, mainnet, REGTEST, regtest, stranger } from '../../chains/bitcoin/cast.ts';
import type { Gate } from '../rpc-proxy.ts';
import { startGate } from '../rpc-proxy.ts';
import type { World } from '../world.ts';
import { finished, reaches, refusalOf, startWorld, taken } from '../world.ts';

/**
 * Covers a vault on Bitcoin over the public API, with the same calls as on every chain. The regtest
 * verifies every signature itself.
 */

const CHAIN = 'bitcoin-regtest';

let node: BitcoinNode;
let gate: Gate;
let world: World;
let vault: ReadyVault;
let wallet: string;
let localChain: LocalBitcoinChain;

beforeAll(async () => {
  node = await startBitcoinNode();
  localChain = node.chain;
  gate = await startGate(node.url);
  world = await startWorld({ bitcoinUrl: gate.url });
  vault = await world.vault('treasury', { chains: [CHAIN] });
  wallet = vault.addresses[CHAIN] ?? '';
  for (let i = 0; i < 12; i++) localChain.fund(wallet, 2n * BTC);
});
afterAll(async () => {
  await world.end();
  await gate.stop();
  await node.stop();
});

function payment(to: string, differences: Partial<TransferBody> = {}): TransferBody {
  return { vaultId: vault.id, chain: CHAIN, to, amount: BTC.toString(), ...differences };
}

const approved = (body: TransferBody) => world.approved(body);

const waits = (id: string) => taken(world.people().alice, id);
const done = (id: string) => finished(world.people().alice, id);

/** Creates and approves a payment, and waits until it is sent, in a block, and final. */
async function paid(body: TransferBody): Promise<TransactionRecord> {
  const id = await approved(body);
  await waits(id);
  localChain.mine();
  return done(id);
}

test('two approvals run a transfer, and its record has the same fields as on every chain', async () => {
  const to = stranger();
  const record = await paid(payment(to, { note: 'for the server' }));
  expect([record.state, record.displayType, record.direction]).toEqual(['SUCCEEDED', 'SENT', 'out']);
  expect([record.from, record.to, record.amount, record.asset?.symbol, record.asset?.decimals]).toEqual([
    wallet,
    to,
    BTC.toString(),
    'BTC',
    8,
  ]);
  expect(localChain.balance(to)).toBe(BTC);
  expect(localChain.find(record.txHash ?? '')?.fee).toBe(BigInt(record.feePaid ?? '0'));
});

test('a payment of many UTXOs has a signature for each of them', async () => {
  const record = await paid(payment(stranger(), { amount: (5n * BTC).toString() }));
  expect(record.state).toBe('SUCCEEDED');
  expect(localChain.find(record.txHash ?? '')?.inputs).toHaveLength(3);
});

test('an estimate states the maximum fee that the transfer then has', async () => {
  const { alice } = world.people();
  const to = stranger();
  const body = { vaultId: vault.id, chain: CHAIN, to, amount: (BTC / 2n).toString() };
  const estimate = await alice.client.request<{ virtualSize: string; normal: { feeRate: string; maxFee: string } }>(
    'POST',
    '/transaction/estimate-fee',
    { body },
  );
  expect([estimate.status, estimate.body.normal.feeRate]).toEqual([200, '1000']);
  const record = await paid(payment(to, { amount: body.amount }));
  expect(record.feePaid).toBe(estimate.body.normal.maxFee);
});

test('a message is signed for the wallet (BIP-322) and ends without a transaction', async () => {
  const { alice, bob } = world.people();
  const created = await alice.client.request<TransactionRecord>('POST', '/transaction/message', {
    body: { vaultId: vault.id, chain: CHAIN, message: 'Sign in to example.com' },
  });
  expect(created.status).toBe(201);
  const { id } = created.body;
  await alice.client.approve(id);
  await bob.client.approve(id);
  const record = await done(id);
  expect([record.state, record.txHash, record.messageFormat]).toEqual(['SUCCEEDED', null, 'bip322']);
  const script = present(scriptOf(regtest, wallet));
  expect(isBip322(script, 'Sign in to example.com', record.signature ?? '')).toBe(true);
  expect(isBip322(script, 'Sign in to example.org', record.signature ?? '')).toBe(false);
});

test('the empty message of BIP-322 is signed', async () => {
  const { alice, bob } = world.people();
  const json = { vaultId: vault.id, chain: CHAIN, message: '' };
  const { id } = await unwrap(alice.client.api.transaction.message.$post({ json }));
  await alice.client.approve(id);
  await bob.client.approve(id);
  const { state, message, signature } = await done(id);
  expect([state, message]).toEqual(['SUCCEEDED', '']);
  expect(isBip322(present(scriptOf(regtest, wallet)), '', signature ?? '')).toBe(true);
});

test('one rejection ends a transfer, and nothing is ever sent', async () => {
  const { alice, bob } = world.people();
  const { id } = await alice.client.transfer(payment(stranger()));
  await alice.client.approve(id);
  await bob.client.reject(id);
  expect([(await done(id)).state, localChain.waiting()]).toEqual(['REJECTED', []]);
});

test.each<[string, string, object, number, string]>([
  [
    'an allowance of ERC-20',
    'erc20-approve',
    { tokenAddress: stranger(), spender: stranger(), amount: '1' },
    422,
    'not-on-this-chain',
  ],
  ['calldata', 'contract-interaction', { to: stranger(), data: '0x00', value: '0' }, 422, 'not-on-this-chain'],
  ['a token', 'transfer', { to: stranger(), amount: '1000', tokenAddress: stranger() }, 400, 'invalid-request'],
  ['an address of the main network', 'transfer', { to: stranger(mainnet), amount: '1000' }, 400, 'invalid-request'],
  ['more than there is', 'transfer', { to: stranger(), amount: (1_000n * BTC).toString() }, 422, 'insufficient-funds'],
  ['dust', 'transfer', { to: stranger(), amount: '329' }, 422, 'would-revert'],
])(
  'a transfer of %s is refused with a clear problem, and nothing is stored',
  async (_name, kind, body, status, code) => {
    const refused = await refusalOf(world.people().alice, kind, { vaultId: vault.id, chain: CHAIN, ...body });
    expect(refused).toEqual([status, code]);
  },
);

test('a refusal of an address of another Bitcoin network names that network', async () => {
  const { alice } = world.people();
  const answer = await alice.client.request<{ errors: readonly { code: string }[] }>('POST', '/transaction/transfer', {
    body: payment(stranger(mainnet)),
  });
  expect(answer.body.errors).toMatchObject([{ pointer: '/to', code: 'other-network' }]);
});

test('a crash between signature and broadcast leads to the same bytes, whether they were broadcast or not', async () => {
  for (const delivered of [true, false]) {
    const { alice, bob } = world.people();
    const to = stranger();
    const { id } = await alice.client.transfer(payment(to));
    await alice.client.approve(id);
    const held = gate.hold('POST /tx');
    await bob.client.approve(id);
    const call = await held;
    await world.stack().kill();
    if (delivered) await call.deliverSilently();
    await world.restart();
    await waits(id);
    localChain.mine();
    const record = await done(id);
    expect([record.state, record.attempts.length, localChain.balance(to)]).toEqual(['SUCCEEDED', 1, BTC]);
  }
});

test('simultaneous payments never share a UTXO, and a payment without a UTXO waits for the change of another', async () => {
  const fresh = await world.vault('second', { chains: [CHAIN] });
  const from = fresh.addresses[CHAIN] ?? '';
  for (let i = 0; i < 3; i++) localChain.fund(from, 3n * BTC);
  const recipients = Array.from({ length: 5 }, () => stranger());
  const ids = await Promise.all(recipients.map((to) => approved(payment(to, { vaultId: fresh.id }))));
  const { alice } = world.people();
  await pollUntil('three in flight', async () => (localChain.waiting().length === 3 ? true : null), 60_000);
  const records = await Promise.all(ids.map((id) => alice.client.read(id)));
  expect(records.filter(({ stateReason }) => stateReason === 'WALLET_BUSY').length).toBeLessThanOrEqual(2);
  localChain.mine();
  await pollUntil('the others too', async () => (localChain.waiting().length === 2 ? true : null), 60_000);
  localChain.mine();
  for (const id of ids) expect((await done(id)).state).toBe('SUCCEEDED');
  expect(recipients.map((to) => localChain.balance(to))).toEqual(recipients.map(() => BTC));
});

test('a waiting payment can be sped up, or cancelled, and one attempt is included', async () => {
  const { alice } = world.people();
  const [kept, undone] = [stranger(), stranger()];
  for (const [to, action] of [
    [kept, 'speed-up'],
    [undone, 'cancel'],
  ] as const) {
    const id = await approved(payment(to));
    await waits(id);
    expect((await alice.client.request('POST', `/transaction/${id}/${action}`)).status).toBe(200);
    const replaced = await reaches(
      alice,
      id,
      ({ attempts }) => attempts.length === 2 && attempts[1]?.outcome === 'accepted',
    );
    expect(localChain.waiting().map(({ hash }) => hash)).toEqual([replaced.attempts[1]?.hash]);
    localChain.mine();
    expect((await done(id)).state).toBe(action === 'cancel' ? 'CANCELLED' : 'SUCCEEDED');
  }
  expect([localChain.balance(kept), localChain.balance(undone)]).toEqual([BTC, 0n]);
});

test('incoming bitcoin is in the history and in the balance, with its sender', async () => {
  const { alice } = world.people();
  const fresh = await world.vault('third', { chains: [CHAIN] });
  const own = fresh.addresses[CHAIN] ?? '';
  const hash = (await paid(payment(own, { amount: (BTC / 4n).toString() }))).txHash ?? '';
  const notify = () => report(world.stack().monitor, { txHash: hash, chain: REGTEST });
  for (let i = 0; i < 3; i++) expect(await notify()).toBe(200);
  const found = await pollUntil(
    'a record',
    async () => {
      const { transactions } = await alice.client.transactions(fresh.id);
      return transactions.find(({ txHash }) => txHash === hash) ?? null;
    },
    20_000,
  );
  expect(found).toMatchObject({ displayType: 'RECEIVED', direction: 'in', from: wallet, to: own, amount: '25000000' });
  const { balances } = await alice.client.balances(fresh.id);
  expect(balances.find(({ chain }) => chain === CHAIN)?.current).toBe('25000000');
  const { transactions } = await alice.client.transactions(fresh.id);
  expect(transactions.filter(({ txHash }) => txHash === hash)).toHaveLength(1);
});

test('unconfirmed incoming bitcoin is shown, is not in the balance, and is replaced by its replacement', async () => {
  const { alice } = world.people();
  const fresh = await world.vault('fourth', { chains: [CHAIN] });
  const own = fresh.addresses[CHAIN] ?? '';
  const recordOf = (hash: string, requested: (record: TransactionRecord) => boolean) =>
    pollUntil(
      `the record of ${hash}`,
      async () => {
        const { transactions } = await alice.client
          .request<{ transactions: readonly TransactionRecord[] }>('GET', `/vault/${fresh.id}/transactions?visible=all`)
          .then(({ body }) => body);
        return transactions.find((one) => one.txHash === hash && requested(one)) ?? null;
      },
      30_000,
    );
  const id = await approved(payment(own));
  const first = (await waits(id)).txHash ?? '';
  await report(world.stack().monitor, { txHash: first, chain: REGTEST });
  const waiting = await recordOf(first, () => true);
  expect(waiting).toMatchObject({
    state: 'BROADCAST',
    amount: BTC.toString(),
    from: wallet,
    block: null,
    visible: true,
  });
  const held = async () => {
    const { balances } = await alice.client.balances(fresh.id);
    return balances.find(({ chain }) => chain === CHAIN)?.current;
  };
  expect(await held()).toBe('0');
  expect((await alice.client.request('POST', `/transaction/${id}/speed-up`)).status).toBe(200);
  const { txHash } = await reaches(alice, id, ({ attempts }) => attempts[1]?.outcome === 'accepted');
  const second = txHash ?? '';
  await report(world.stack().monitor, { txHash: second, chain: REGTEST });
  await recordOf(second, ({ state }) => state === 'BROADCAST');
  localChain.mine();
  expect(await recordOf(second, ({ state }) => state === 'SUCCEEDED')).toMatchObject({
    confirmations: 1,
    visible: true,
  });
  expect(await recordOf(first, ({ state }) => state === 'FAILED')).toMatchObject({
    stateReason: 'DROPPED',
    hiddenReason: 'DROPPED',
    visible: false,
  });
  expect(await held()).toBe(BTC.toString());
});

test('a reorganised block removes the payment, and the same bytes are credited again', async () => {
  await world.stack().stop();
  await world.restart({ chains: [{ name: CHAIN, confirmations: 2 }] });
  const { alice } = world.people();
  const to = stranger();
  const id = await approved(payment(to));
  await waits(id);
  localChain.mine();
  const { txHash } = await reaches(alice, id, ({ state }) => state === 'CONFIRMING');
  localChain.reorganise(1);
  expect(localChain.balance(to)).toBe(0n);
  await pollUntil('back in the mempool', async () => (localChain.waiting().length === 1 ? true : null), 60_000);
  localChain.mine(2);
  const record = await done(id);
  expect([record.state, record.txHash, record.attempts.length]).toEqual(['SUCCEEDED', txHash, 1]);
  expect(localChain.balance(to)).toBe(BTC);
});
