import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { parseKeyId } from '#domain/id.ts';
import type { HistoryEntry } from '#objects/vault/history.ts';
import { consumed } from '../../worker/queue-batch.ts';
import { call, asService, coordinator, enter, PATIENCE_MS } from '../../http/scene.worker.ts';
import { vaultOf } from './vault-of.ts';

/**
 * Covers a P2WPKH vault that was stored before the keys of test networks were derived: on each of
 * these networks it has the address of its mainnet key. The key is the generator of the curve,
 * whose addresses are public knowledge.
 */

const GENERATOR = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const EVM = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
/** The first example address of BIP-173, and its witness program on other networks. */
const MAINNET = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const FORMER = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const REGTEST = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const CHAINS = ['anvil', 'bitcoin', 'bitcoin-testnet4', 'bitcoin-signet'];
const STORED = {
  anvil: EVM,
  bitcoin: MAINNET,
  'bitcoin-testnet4': FORMER,
  'bitcoin-signet': FORMER,
  'bitcoin-regtest': REGTEST,
};

/**
 * Creates a vault as an older release stored it, with a test-network payment that waits for
 * approvals.
 */
async function olderVault(chains: readonly string[] = CHAINS) {
  const [alice, bob] = [await enter('alice'), await enter('bob')];
  const created = await asService('POST /internal/vault', {
    name: 'Treasury',
    members: [alice, bob].map(({ id }) => ({ userId: id, roles: ['initiator', 'signer'] })),
    threshold: 2,
    initialState: 'SUBMITTED',
    approvalMode: 'token',
    chains,
    bitcoinAddressType: 'p2wpkh',
  });
  const id: number = created.body['id'];
  const keyId = parseKeyId('a'.repeat(26));
  if (keyId === null) throw new Error('the key id must parse');
  const object = vaultOf(coordinator, id);
  const addresses = Object.fromEntries(Object.entries(STORED).filter(([chain]) => chains.includes(chain)));
  // The object keeps the addresses that are given with a key.
  const key = { keyId, scheme: 'ecdsa-secp256k1', publicKey: GENERATOR, publicShares: {}, addresses } as const;
  await object.report({ type: 'recordKey', key });
  return { id, alice, bob, object };
}

type OlderVault = Awaited<ReturnType<typeof olderVault>>;

async function payment({ id, alice }: OlderVault) {
  const to = 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7';
  const body = { vaultId: id, chain: 'bitcoin-testnet4', to, amount: '1000' };
  const made = await call('POST /transaction/transfer', { token: alice.token, body });
  expect(made.status).toBe(201);
  return made.body;
}

const record = async ({ id }: OlderVault) => (await asService(`GET /internal/vault/${id}`)).body;
const document = ({ object }: OlderVault) =>
  runInDurableObject(object, (_object, { storage }) => storage.sql.exec('SELECT document FROM vault').one());
const linesOf = async ({ object }: OlderVault) => {
  const rows = await runInDurableObject(object, (_object, { storage }) =>
    storage.sql.exec<{ document: string }>('SELECT document FROM history ORDER BY seq').toArray(),
  );
  const lines = rows.map((row) => JSON.parse(row.document) as HistoryEntry);
  return lines.filter(({ action }) => action === 'derive-network-keys');
};

test('at its next start the vault creates a derived address on each test network, and lists the former one', async () => {
  const vault = await olderVault();
  expect(await record(vault)).toMatchObject({ formerWallets: [] });
  await evictDurableObject(vault.object);
  const after = await record(vault);
  const wallets = new Map<string, string>(
    after['wallets'].map((one: { chain: string; address: string }) => [one.chain, one.address]),
  );
  expect([wallets.get('anvil'), wallets.get('bitcoin')]).toEqual([EVM, MAINNET]);
  const derived = ['bitcoin-testnet4', 'bitcoin-signet'].map((chain) => wallets.get(chain));
  for (const address of derived) expect(address).toMatch(/^tb1q[0-9a-z]{38}$/);
  expect(new Set([...derived, FORMER]).size).toBe(3);
  expect(after['formerWallets']).toEqual([
    { chain: 'bitcoin-testnet4', address: FORMER },
    { chain: 'bitcoin-signet', address: FORMER },
  ]);
  const { results } = await coordinator.DB.prepare('SELECT chain, address FROM wallets WHERE vault_id = ?')
    .bind(vault.id)
    .all();
  expect(results).toHaveLength(6);
});

test('the dashboard shows which addresses are former ones', async () => {
  // This test uses a network that no other test of the file uses, because an address keeps its
  // vault in the directory permanently.
  const vault = await olderVault(['bitcoin-regtest']);
  const issued = await asService(`POST /internal/user/${vault.alice.id}/session`);
  const cookie = String(issued.body['cookie']).split(';')[0] ?? '';
  const headers = { cookie, origin: 'http://conclave.test', 'sec-fetch-site': 'same-origin' };
  const own = async () => (await call('GET /session/vaults', { headers })).body['data'];
  const former = { chain: 'bitcoin-regtest', address: REGTEST };
  await vi.waitFor(
    async () => expect(await own()).toMatchObject([{ wallets: [former], formerWallets: [] }]),
    PATIENCE_MS,
  );
  await evictDurableObject(vault.object);
  await record(vault);
  const [{ wallets, formerWallets }] = await own();
  expect(formerWallets).toEqual([former]);
  expect(wallets).toEqual([{ chain: 'bitcoin-regtest', address: expect.stringMatching(/^bcrt1q/) as string }]);
  expect(wallets).not.toContainEqual(former);
});

test('the change of the addresses is written once with a history line, however often the object starts', async () => {
  const vault = await olderVault();
  await evictDurableObject(vault.object);
  await record(vault);
  const moved = await document(vault);
  await evictDurableObject(vault.object);
  await record(vault);
  expect(await document(vault)).toEqual(moved);
  const [line, ...more] = await linesOf(vault);
  expect([line?.actor, more]).toEqual([null, []]);
  expect(line?.detail).toContain(FORMER);
});

test('a vault whose addresses are already right is not written', async () => {
  const vault = await olderVault(['anvil', 'bitcoin']);
  await asService(`PUT /internal/vault/${vault.id}/wallet/bitcoin-testnet4`);
  const before = await document(vault);
  await evictDurableObject(vault.object);
  expect(await record(vault)).toMatchObject({ formerWallets: [] });
  expect([await document(vault), await linesOf(vault)]).toEqual([before, []]);
});

test('a payment from the former address fails with WALLET_REPLACED, and a new one uses the new address', async () => {
  const vault = await olderVault();
  const older = await payment(vault);
  expect(older['from']).toBe(FORMER);
  await evictDurableObject(vault.object);
  const newer = await payment(vault);
  expect(newer['from']).not.toBe(FORMER);
  for (const { id } of [older, newer]) {
    for (const { token } of [vault.alice, vault.bob]) await call(`POST /transaction/${id}/approve`, { token });
    await consumed('conclave-signing', [{ vaultId: vault.id, transactionId: id, job: 'sign' }]);
  }
  const read = async (id: unknown) => (await call(`GET /transaction/${String(id)}`, { token: vault.alice.token })).body;
  expect(await read(older['id'])).toMatchObject({ state: 'FAILED', stateReason: 'WALLET_REPLACED', txHash: null });
  // The newer payment waits, because its chain has no RPC node in this test.
  expect(await read(newer['id'])).toMatchObject({ state: 'SIGNING', stateReason: 'CHAIN_NOT_CONFIGURED' });
});

test('a message of the former address is not signed', async () => {
  const vault = await olderVault();
  const body = { vaultId: vault.id, chain: 'bitcoin-testnet4', message: 'I own this address' };
  const { body: made } = await call('POST /transaction/message', { token: vault.alice.token, body });
  await evictDurableObject(vault.object);
  for (const { token } of [vault.alice, vault.bob]) await call(`POST /transaction/${made['id']}/approve`, { token });
  await consumed('conclave-signing', [{ vaultId: vault.id, transactionId: made['id'], job: 'sign' }]);
  const { body: read } = await call(`GET /transaction/${made['id']}`, { token: vault.alice.token });
  expect([read['state'], read['stateReason']]).toEqual(['FAILED', 'WALLET_REPLACED']);
});
