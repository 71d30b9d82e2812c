import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import type { World } from '../world.ts';
import { finished, startWorld } from '../world.ts';

/**
 * Covers a key refresh: the co-signers of a vault get new shares while the vault is in use, without
 * an effect on its members.
 */

const run = promisify(execFile);
let world: World;
let vault: ReadyVault;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury', { chains: ['solana-local', 'bitcoin-regtest'] });
});
afterAll(() => world.end());

async function admin(...args: readonly string[]): Promise<Key> {
  const env = { ...process.env, CONCLAVE_URL: world.stack().url, CONCLAVE_SERVICE_KEY: world.stack().serviceKey };
  const { stdout } = await run(process.execPath, ['cli/conclave.ts', 'admin', ...args], { env });
  return JSON.parse(stdout) as Key;
}

interface Key {
  readonly keyId: string;
  readonly publicKey: string;
  readonly refreshing: boolean;
  readonly shares: readonly {
    readonly node: number;
    readonly epoch: number | null;
    readonly waiting: readonly number[];
  }[];
}

const vaultRecord = () =>
  unwrap(world.service().api.internal.vault[':vaultId'].$get({ param: { vaultId: String(vault.id) } }));
const keyArguments = (keyId: string) => ['--vault', String(vault.id), '--key', keyId];

async function pays(): Promise<void> {
  const to = await world.chain.account(7);
  const id = await world.approved({ vaultId: vault.id, chain: 'anvil', to, amount: '1000' });
  expect((await finished(world.people().alice, id)).state).toBe('SUCCEEDED');
}

test('a key refresh renews every share, keeps the addresses, and payments succeed before, during and after it', async () => {
  await pays();
  const { keys, wallets } = await vaultRecord();
  expect(keys).toHaveLength(3);
  for (const { keyId } of keys) {
    const answer = await admin('key', 'refresh', ...keyArguments(keyId));
    expect([answer.keyId, answer.refreshing]).toEqual([keyId, true]);
  }
  await pays();
  for (const { keyId, publicKey } of keys) {
    const done = async () => {
      const key = await admin('key', 'show', ...keyArguments(keyId));
      return key.refreshing ? null : key;
    };
    const key = await pollUntil('new shares', done, 60_000);
    expect([key.publicKey, key.shares.map(({ epoch }) => epoch)]).toEqual([publicKey, [2, 2, 2]]);
    expect(key.shares.map(({ waiting }) => waiting)).toEqual([[], [], []]);
  }
  await pays();
  expect((await vaultRecord()).wallets).toEqual(wallets);
  const { alice } = world.people();
  const { history } = await alice.client.history(vault.id);
  const lines = history.filter(({ action }) => action.startsWith('key-refresh'));
  expect(lines.map(({ action }) => action).toSorted()).toEqual([
    ...Array.from({ length: 3 }, () => 'key-refresh'),
    ...Array.from({ length: 3 }, () => 'key-refreshed'),
  ]);
});

test('a service that dies while shares are in transit completes the refresh, and pays', async () => {
  const { keys } = await vaultRecord();
  const keyId = keys.find(({ scheme }) => scheme === 'ecdsa-secp256k1')?.keyId ?? '';
  await admin('key', 'refresh', ...keyArguments(keyId));
  await world.stack().kill();
  await world.restart();
  await pays();
  const done = async () => {
    const key = await admin('key', 'show', ...keyArguments(keyId));
    return key.refreshing ? null : key.shares.map(({ epoch }) => epoch);
  };
  const epochs = await pollUntil('new shares', done, 60_000);
  expect([new Set(epochs).size, (epochs[0] ?? 0) >= 3]).toEqual([1, true]);
  await pays();
});

test('a refresh of a missing key, or of a missing vault, is refused with the reason', async () => {
  const { keys } = await vaultRecord();
  const line = (vaultId: number, keyId: string) => `/internal/vault/${vaultId}/key/${keyId}`;
  for (const [method, path] of [
    ['GET', line(vault.id, 'b'.repeat(26))],
    ['POST', `${line(vault.id, 'b'.repeat(26))}/refresh`],
    ['GET', line(999_999, keys[0]?.keyId ?? '')],
  ] as const) {
    const answer = await world.service().request<{ code: string }>(method, path);
    expect([answer.status, answer.body.code]).toEqual([
      404,
      path.includes('999999') ? 'vault-not-found' : 'key-not-found',
    ]);
  }
});
