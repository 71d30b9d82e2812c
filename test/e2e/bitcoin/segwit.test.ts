import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LocalBitcoinChain } from '#local/bitcoin/chain.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import type { TransactionRecord } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { BTC, stranger } from '../../chains/bitcoin/cast.ts';
import type { Gate } from '../rpc-proxy.ts';
import { startGate } from '../rpc-proxy.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld, taken } from '../world.ts';

/**
 * Covers a vault whose ECDSA key holds its bitcoin (P2WPKH), over the public API. The regtest
 * verifies every signature itself.
 */

const CHAIN = 'bitcoin-regtest';

let node: BitcoinNode;
let gate: Gate;
let world: World;
let vault: ReadyVault;
let wallet: string;
let chain: LocalBitcoinChain;

beforeAll(async () => {
  node = await startBitcoinNode();
  chain = node.chain;
  gate = await startGate(node.url);
  world = await startWorld({ bitcoinUrl: gate.url });
  vault = await world.vault('treasury', { chains: [CHAIN], bitcoinAddressType: 'p2wpkh' });
  wallet = vault.addresses[CHAIN] ?? '';
  for (let i = 0; i < 8; i++) chain.fund(wallet, 2n * BTC);
});
afterAll(async () => {
  await world.end();
  await gate.stop();
  await node.stop();
});

const approved = (to: string, units: bigint) =>
  world.approved({ vaultId: vault.id, chain: CHAIN, to, amount: units.toString() });

const waits = (id: string) => taken(world.people().alice, id);

test('one key holds ether and bitcoin: the wallet is P2WPKH, and no taproot key was created', async () => {
  expect(wallet).toMatch(/^bcrt1q[0-9a-z]{38}$/);
  const { body } = await world
    .service()
    .request<{ bitcoinAddressType: string; keys: readonly { scheme: string }[] }>('GET', `/internal/vault/${vault.id}`);
  expect([body.bitcoinAddressType, body.keys.map(({ scheme }) => scheme)]).toEqual(['p2wpkh', ['ecdsa-secp256k1']]);
});

test('a payment of many UTXOs has a signature for each, costs the quoted fee, and its change comes back', async () => {
  const to = stranger();
  const before = chain.balance(wallet);
  const id = await approved(to, 5n * BTC);
  await waits(id);
  chain.mine();
  const record = await finished(world.people().alice, id);
  const paid = chain.find(record.txHash ?? '');
  expect([record.state, chain.balance(to), paid?.inputs.length]).toEqual(['SUCCEEDED', 5n * BTC, 3]);
  expect(paid?.fee).toBe(BigInt(record.feePaid ?? '0'));
  expect(chain.balance(wallet)).toBe(before - 5n * BTC - (paid?.fee ?? 0n));
  // The fee is computed for the longest ECDSA signature. The real signatures are a byte or two
  // shorter.
  const size = paid?.virtualSize ?? 0n;
  expect([(paid?.fee ?? 0n) >= size, (paid?.fee ?? 0n) - size < 4n]).toEqual([true, true]);
});

test('a waiting payment can be sped up, and one attempt is included', async () => {
  const { alice } = world.people();
  const to = stranger();
  const id = await approved(to, BTC);
  await waits(id);
  expect((await alice.client.request('POST', `/transaction/${id}/speed-up`)).status).toBe(200);
  const replaced = await reaches(alice, id, ({ attempts }) => attempts[1]?.outcome === 'accepted');
  expect(chain.waiting().map(({ hash }) => hash)).toEqual([replaced.attempts[1]?.hash]);
  chain.mine();
  expect([(await finished(alice, id)).state, chain.balance(to)]).toEqual(['SUCCEEDED', BTC]);
});

test('a server that hides the origin of a UTXO delays the signature, and a crash there loses nothing', async () => {
  const { alice, bob } = world.people();
  const to = stranger();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: CHAIN, to, amount: BTC.toString() });
  await alice.client.approve(id);
  const [first] = await utxos();
  const held = gate.hold(`GET /tx/${first?.txid}/hex`);
  await bob.client.approve(id);
  await held;
  await world.stack().kill();
  await world.restart();
  await waits(id);
  chain.mine();
  const record = await finished(world.people().alice, id);
  expect([record.state, record.attempts.length, chain.balance(to)]).toEqual(['SUCCEEDED', 1, BTC]);
});

/**
 * Returns the UTXOs that suffice for a payment of one bitcoin, in the order in which they are
 * chosen: smallest first.
 */
async function utxos(): Promise<readonly { readonly txid: string; readonly value: number }[]> {
  const answer = await fetch(`${node.url}/address/${wallet}/utxo`);
  const all = (await answer.json()) as readonly { readonly txid: string; readonly value: number }[];
  const sufficient = all.filter(({ value }) => value > BTC);
  return sufficient.toSorted((one, other) => one.value - other.value || (one.txid < other.txid ? -1 : 1));
}

test('a message is signed for the P2WPKH address', async () => {
  const { alice, bob } = world.people();
  const created = await alice.client.request<TransactionRecord>('POST', '/transaction/message', {
    body: { vaultId: vault.id, chain: CHAIN, message: 'Sign in to example.com' },
  });
  const { id } = created.body;
  await alice.client.approve(id);
  await bob.client.approve(id);
  const record = await finished(alice, id);
  // The witness has two elements: a signature with its hash type, and the public key.
  const witness = Buffer.from(record.signature?.slice(3) ?? '', 'base64');
  expect([record.state, record.signature?.slice(0, 3), witness[0], witness.at(-34)]).toEqual([
    'SUCCEEDED',
    'smp',
    2,
    33,
  ]);
});
