import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GENESIS } from '#chains/bitcoin/rules/network.ts';
import { LOCAL_CLUSTER } from '#chains/solana/rules/cluster.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { signingKeysIn } from '#cli/peers-file.ts';
import { unwrap } from '#cli/api-client.ts';
import { newRecoveryKey, publicHalf, recoverySecretOf } from '#cli/recovery/key-file.ts';
import { recovered } from '#cli/recovery/open.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import type { SignedExportList } from '#cosigner-client/export-lists.ts';
import { publicIdentity } from '#mpc/identity.ts';
import { identitySecretsIn } from '../../cosigner/key/identity-secrets.ts';
import type { World } from '../world.ts';
import { startWorld } from '../world.ts';

/**
 * Covers recovery without the service, from the recovery packages of the co-signers and the
 * recovery keys in a safe.
 */

const CHAINS = ['eip155:31337', `solana:${LOCAL_CLUSTER}`, `bip122:${GENESIS.regtest}`];
const run = promisify(execFile);
let safe: string;
/** The paths of the recovery keys, one for each co-signer. */
let keyFiles: readonly string[];
/** The vault has wallets on three chains, and this stack has an RPC node of one. */
const NO_NODE = 'chain-without-node';

let world: World;
let vault: ReadyVault;
let packages: readonly RecoveryPackage[];

beforeAll(async () => {
  safe = await mkdtemp(join(tmpdir(), 'conclave-safe-'));
  keyFiles = [1, 2, 3].map((node) => join(safe, `recovery-${node}.pem`));
  world = await startWorld({ recoveryKeys: keyFiles.map(newRecoveryKey) });
  const signing = identitySecretsIn(world.folder).map((secret, i) => [i + 1, publicIdentity(secret)]);
  await writeFile(peersFile(), JSON.stringify(Object.fromEntries(signing)));
  vault = await world.vault('treasury', { chains: ['solana-local', 'bitcoin-regtest'] });
  const answer = await world.service().request<Exported>('POST', `/internal/vault/${vault.id}/recovery`);
  expect([answer.status, answer.body.missing]).toEqual([200, []]);
  packages = answer.body.packages;
});
afterAll(async () => {
  await world.end();
  await rm(safe, { recursive: true, force: true });
});

type Lines = readonly { readonly action: string; readonly detail: string | null; readonly atMs: number }[];

interface Exported {
  readonly packages: readonly RecoveryPackage[];
  readonly missing: readonly { readonly keyId: string; readonly node: number; readonly reason: string }[];
}

/** The PEERS setting of the co-signers, as their operators have it. */
const peersFile = () => join(safe, 'peers.json');

const opened = (some: readonly RecoveryPackage[], files = keyFiles) =>
  recovered(files.map(recoverySecretOf), some, { chains: CHAINS, signingKeys: signingKeysIn(peersFile()) });
const of = (...nodes: readonly number[]) => packages.filter(({ node }) => nodes.includes(node));

test('the vault names its last complete export, and the status the recovery key of each co-signer', async () => {
  const { api } = world.service();
  const { keys } = await unwrap(api.internal.vault[':vaultId'].$get({ param: { vaultId: String(vault.id) } }));
  const recoveryKeys = keyFiles.map((file, i) => ({
    cosigner: i + 1,
    recoveryKey: publicHalf(recoverySecretOf(file)),
  }));
  const exportedAt = expect.any(String) as string;
  expect(keys).toHaveLength(3);
  for (const { recovery } of keys) expect(recovery).toEqual({ exportedAt, outdatedSince: null, recoveryKeys });
  const { cosigners, attention: all, recovery } = await unwrap(api.internal.status.$get());
  const attention = all.filter(({ code }) => code !== NO_NODE);
  expect(cosigners.map(({ recoveryKey }) => recoveryKey)).toEqual(recoveryKeys.map(({ recoveryKey }) => recoveryKey));
  expect([recovery, attention]).toEqual([{ outdated: 0, longest: [] }, []]);
});

test('the packages of any two co-signers and the keys in the safe recover the keys of all addresses', async () => {
  for (const file of keyFiles) expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect([1, 2, 3].map((node) => of(node).length)).toEqual([3, 3, 3]);
  const known = Object.values(vault.addresses).toSorted();
  for (const nodes of [
    [1, 2],
    [1, 3],
    [2, 3],
    [1, 2, 3],
  ]) {
    const { wallets, faults } = await opened(of(...nodes));
    // The key of EVM chains has a P2WPKH address as well, which this vault does not use.
    const addresses = wallets.map(({ address }) => address).filter((address) => !address.startsWith('bcrt1q'));
    expect([faults, addresses.toSorted()]).toEqual([[], known]);
    // Any two shares recover the same keys, and `recovered` compares each key with its address.
    expect(new Set(wallets.map(({ secret }) => secret)).size).toBe(4);
  }
  const secrets = await Promise.all([opened(of(1, 2)), opened(of(2, 3))]);
  expect(secrets[0]?.wallets).toEqual(secrets[1]?.wallets);
});

test('members see the export in the history and at the co-signers, before any co-signer gave a package', async () => {
  const { client } = world.people().alice;
  const nonce = 'ab'.repeat(32);
  const listed = await client.request<{ lists: readonly SignedExportList[]; missing: readonly unknown[] }>(
    'GET',
    `/vault/${vault.id}/recovery-exports?nonce=${nonce}`,
  );
  const { body: page } = await client.request<{ history: Lines }>('GET', `/vault/${vault.id}/history`);
  const keyIds = [...new Set(packages.map(({ keyId }) => keyId))];
  expect([listed.status, listed.body.missing, keyIds.length]).toEqual([200, [], 3]);
  const ofExports = page.history.filter(({ action }) => action.startsWith('recovery-'));
  expect(ofExports.map(({ action, detail }) => [action, detail])).toEqual([
    ...keyIds.map((keyId) => ['recovery-export', keyId]),
    ...keyIds.map((keyId) => ['recovery-exported', `${keyId} 1,2,3`]),
  ]);
  // The times are comparable because all processes run on one machine with one clock.
  for (const { atMs } of listed.body.lists.flatMap(({ exports }) => exports)) {
    expect(ofExports[0]?.atMs).toBeLessThanOrEqual(atMs);
  }
  const [listsFile, pageFile] = ['lists', 'page'].map((name) => join(safe, `${name}.json`));
  await writeFile(listsFile ?? '', JSON.stringify(listed.body));
  await writeFile(pageFile ?? '', JSON.stringify(page));
  const verify = [
    'cli/conclave.ts',
    'verify-exports',
    '--peers',
    peersFile(),
    '--lists',
    listsFile ?? '',
    pageFile ?? '',
  ];
  const { stdout } = await run(process.execPath, [...verify, '--nonce', nonce]);
  expect(stdout).toContain('Verified 9 lists. Each export is in the history.');
  await expect(run(process.execPath, [...verify, '--nonce', 'cd'.repeat(32)])).rejects.toThrow('another nonce');
  // A user outside the vault gets no list of exports.
  const { mallory } = world.people();
  const answer = await mallory.client.request('GET', `/vault/${vault.id}/recovery-exports?nonce=${nonce}`);
  expect(answer.status).toBe(403);
  const unasked = await client.request('GET', `/vault/${vault.id}/recovery-exports`);
  expect(unasked.status).toBe(400);
});

test('the packages of one co-signer, or another key, recover nothing', async () => {
  expect((await opened(of(2))).wallets).toEqual([]);
  expect((await opened([...of(2), ...of(2)])).wallets).toEqual([]);
  const other = join(safe, 'other.pem');
  newRecoveryKey(other);
  const { wallets, faults } = await opened(packages, [other]);
  expect([wallets, faults.every((fault) => /another-recovery-key|0 shares/.test(fault))]).toEqual([[], true]);
});

test('a package with any changed byte is refused', async () => {
  const [one] = of(1);
  if (one === undefined) throw new Error('node 1 has given one');
  const flipped = (hex: string) => (hex.startsWith('0') ? '1' : '0') + hex.slice(1);
  const elsewhere = packages.find(({ keyId, scheme }) => keyId !== one.keyId && scheme !== one.scheme);
  const changes: readonly Partial<RecoveryPackage>[] = [
    { keyId: elsewhere?.keyId ?? '' },
    { epoch: 2 },
    { node: 2 },
    { threshold: 1 },
    { publicKey: elsewhere?.publicKey ?? '' },
    { publicShares: { ...one.publicShares, '3': one.publicShares['2'] ?? '' } },
    { recoveryKey: flipped(one.recoveryKey) },
    { encapsulated: flipped(one.encapsulated) },
    { ciphertext: flipped(one.ciphertext) },
  ];
  for (const change of changes) {
    const { wallets, faults } = await opened([{ ...one, ...change }]);
    expect([change, wallets, faults.length > 0]).toEqual([change, [], true]);
    expect(faults.join()).toMatch('recoveryKey' in change ? /another-recovery-key/ : /does-not-open|no-shared-secret/);
    expect(faults.join()).toContain('not-signed-by-the-co-signer');
  }
});

test('the command line exports the packages, and opens them without the service', async () => {
  const env = { ...process.env, CONCLAVE_URL: world.stack().url, CONCLAVE_SERVICE_KEY: world.stack().serviceKey };
  const exported = await run(
    process.execPath,
    ['cli/conclave.ts', 'admin', 'recovery', 'export', '--vault', String(vault.id)],
    {
      env,
    },
  );
  const file = join(safe, 'vault.json');
  await writeFile(file, exported.stdout);
  const keys = keyFiles.slice(1).flatMap((one) => ['--key', one]);
  const verify = ['cli/conclave.ts', 'recover', '--bundled-node', 'verify', '--peers', peersFile()];
  expect((await run(process.execPath, [...verify, file])).stdout).toContain('Verified 9 packages of 3 keys.');
  const junk = join(safe, 'junk.json');
  const { packages: given } = JSON.parse(exported.stdout) as Exported;
  const flipped = given.map((one, i) => (i === 4 ? { ...one, ciphertext: given[0]?.ciphertext } : one));
  await writeFile(junk, JSON.stringify({ packages: flipped }));
  await expect(run(process.execPath, [...verify, junk])).rejects.toThrow('not signed by the co-signer');
  await writeFile(junk, JSON.stringify({ packages: given.slice(1) }));
  await expect(run(process.execPath, [...verify, junk])).rejects.toThrow('no package');
  const open = ['recover', 'open', '--bundled-node', ...keys, '--peers', peersFile(), '--chain', 'eip155:31337', file];
  const words = ['cli/conclave.ts', ...open];
  const { stdout, stderr } = await run(process.execPath, words);
  expect([JSON.parse(stdout), stderr.replaceAll(/npm warn.*\n/g, '')]).toMatchObject([
    [{ address: vault.address }],
    expect.stringContaining('co-signer 1: another-recovery-key') as string,
  ]);
  await expect(run(process.execPath, ['cli/conclave.ts', 'recover', '--bundled-node', 'new', ...keys])).rejects.toThrow(
    'EEXIST',
  );
  const fresh = ['4', '5'].flatMap((node) => ['--key', join(safe, `recovery-${node}.pem`)]);
  const made = await run(process.execPath, ['cli/conclave.ts', 'recover', '--bundled-node', 'new', ...fresh]);
  expect(made.stdout).toMatch(/^[0-9a-f]{64}\n[0-9a-f]{64}\n$/);
});

test('a co-signer that has not pinned the recovery key gives no package, and the command names that co-signer', async () => {
  await world.restart({ absent: [2], recoveryKeys: [] });
  const { body } = await world.service().request<Exported>('POST', `/internal/vault/${vault.id}/recovery`);
  expect(body.packages).toEqual([]);
  expect(new Set(body.missing.map(({ node, reason }) => `${node} ${reason}`))).toEqual(
    new Set(['1 no-recovery-key', '2 unreachable', '3 no-recovery-key']),
  );
  const { attention } = await unwrap(world.service().api.internal.status.$get());
  const others = attention.filter(({ code }) => code !== NO_NODE);
  expect(others.map(({ code, detail }) => `${code}: ${detail}`)).toEqual([
    'cosigner-away: Co-signer 2 is unavailable: unreachable.',
    'recovery-key-missing: Co-signers without a recovery key: 1, 3.',
  ]);
});
