import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PartyIndex } from '#mpc/party.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import { encodeScalar, modOrder } from '#curve/scalar.ts';
import { encodePoint, GENERATOR, SECRETS } from '#mpc/secp256k1.ts';
import type { KeyShare } from '#mpc/share.ts';
import { decodeKeyShare, unseal } from '#mpc/share.ts';
import type { Person, ReadyVault } from '#local/stack/provision.ts';
import type { World } from './world.ts';
import { finished, startWorld } from './world.ts';
import { unwrap } from '#cli/api-client.ts';
import { valueOf } from '../mpc/secret-values.ts';

/**
 * Searches everything that the coordinator stores and sends for every secret that could rebuild the
 * key, in every encoding. The test knows these secrets because it reads the storage and the secrets
 * of the co-signers, for which an attacker would have to break into three machines.
 */

let world: World;
let vault: ReadyVault;
let publicKey: string;
let keyId: string;
let shares: readonly KeyShare[];
let tokens: readonly Person[];
let serviceKey: string;

interface Secrets {
  readonly tokenMacKey: string;
  readonly serviceKey: string;
  readonly cosigners: readonly { readonly identity: string; readonly keyEncryption: string }[];
}

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  const { alice, bob, carol, mallory } = world.people();
  const body = { vaultId: vault.id, chain: 'anvil', to: await world.chain.account(7), amount: '1000' };
  const { id } = await alice.client.transfer(body);
  await alice.client.approve(id);
  await bob.client.approve(id);
  const done = await finished(alice, id);
  expect(done.state).toBe('SUCCEEDED');
  const { vault: vaults } = world.service().api.internal;
  const record = await unwrap(vaults[':vaultId'].$get({ param: { vaultId: String(vault.id) } }));
  ({ publicKey = '', keyId = '' } = record.keys[0] ?? {});
  ({ serviceKey } = secretsOf());
  tokens = [alice, bob, carol, mallory];
  await world.stack().stop();
  shares = await Promise.all([1, 2, 3].map(shareOfNode));
});
afterAll(async () => {
  await world.restart();
  await world.end();
});

function secretsOf(): Secrets {
  return JSON.parse(readFileSync(join(world.folder, 'secrets.json'), 'utf8')) as Secrets;
}

/** Returns the share of a co-signer, read from its storage and decrypted with its secret. */
async function shareOfNode(index: number): Promise<KeyShare> {
  const folder = join(world.folder, 'state', 'v3', 'do', `conclave-cosigner-${index}-CosignerObject`);
  const keyEncryption = secretsOf().cosigners[index - 1]?.keyEncryption ?? '';
  for (const file of readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))) {
    const database = new DatabaseSync(join(folder, file));
    const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sealed'").all();
    const rows = tables.length === 0 ? [] : database.prepare('SELECT * FROM sealed').all();
    database.close();
    const row = rows[0] as Record<string, string> | undefined;
    if (row === undefined) continue;
    const bytes = (name: string) => hexToBytes(row[name] ?? '');
    const record = {
      kekId: row['kek_id'] ?? '',
      salt: bytes('salt'),
      iv: bytes('iv'),
      ciphertext: bytes('ciphertext'),
    };
    // The record of a co-signer pair does not open as a share, because its sealed position differs.
    const madeAtMs = Number.parseInt(row['made_at_ms'] ?? '', 10);
    const position = { kind: 'share', node: partyOf(index), name: keyId, epoch: 1, madeAtMs };
    const opened = await unseal([{ id: 'local-1', secret: keyEncryption }], position, record);
    if (opened !== null) return decodeKeyShare(keyId, opened);
  }
  throw new Error(`node ${index} has no share`);
}

function partyOf(index: number): PartyIndex {
  const party = parsePartyIndex(index);
  if (party === null) throw new Error('there are nodes 1 to 3');
  return party;
}

/** Returns the whole key, interpolated from the shares at x = 1 and x = 2: 2 f(1) - f(2). */
function wholeKey(): bigint {
  const [first, second] = shares;
  if (first === undefined || second === undefined) throw new Error('there are three shares');
  return modOrder(2n * valueOf(first.secret) - valueOf(second.secret));
}

/** Returns the contents of every file below a folder that `skip` does not match. */
function filesBelow(folder: string, skip: RegExp): readonly Buffer[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (skip.test(path)) return [];
    return entry.isDirectory() ? filesBelow(path, skip) : [readFileSync(path)];
  });
}

/**
 * Returns everything that the coordinator has: its databases, objects, log and configuration, and
 * its calls to the chain.
 */
function coordinatorHas(): readonly Buffer[] {
  const stored = filesBelow(join(world.folder, 'state'), /conclave-cosigner-/);
  const configured = filesBelow(join(world.folder, 'coordinator'), /nothing is skipped/);
  const log = readFileSync(join(world.folder, 'workers.log'));
  return [...stored, ...configured, log, Buffer.from(world.gate.said.join('\n'))];
}

function spellings(secret: Uint8Array): readonly (readonly [string, Buffer])[] {
  const bytes = Buffer.from(secret);
  const hex = bytesToHex(secret);
  return [
    ['bytes', bytes],
    ['reversed bytes', Buffer.from(secret.toReversed())],
    ['hex', Buffer.from(hex)],
    ['HEX', Buffer.from(hex.toUpperCase())],
    ['base64', Buffer.from(bytes.toString('base64').replace(/=+$/, ''))],
    ['base64url', Buffer.from(bytes.toString('base64url'))],
    ['decimal', Buffer.from(BigInt(`0x${hex}`).toString())],
  ];
}

function found(haystack: readonly Buffer[], secret: Uint8Array): readonly string[] {
  return spellings(secret).flatMap(([name, needle]) => (haystack.some((file) => file.includes(needle)) ? [name] : []));
}

test('the search is valid: it finds the public key in the vault, and two shares make the whole key', () => {
  expect(found(coordinatorHas(), hexToBytes(publicKey))).toContain('hex');
  expect(bytesToHex(encodePoint(GENERATOR.multiplyPublic(wholeKey())))).toBe(publicKey);
});

test('the coordinator has no share and no key, in any encoding', () => {
  const haystack = coordinatorHas();
  const secrets = [...shares.map(({ secret }) => valueOf(secret)), wholeKey()];
  expect(secrets.map((secret) => found(haystack, encodeScalar(secret)))).toEqual(secrets.map(() => []));
});

test('the coordinator has no secret of a co-signer either: neither its identity nor the key that seals its shares', () => {
  const haystack = coordinatorHas();
  const secrets = secretsOf().cosigners.flatMap(({ identity, keyEncryption }) => [identity, keyEncryption]);
  expect(secrets.map((secret) => found(haystack, hexToBytes(secret)))).toEqual(secrets.map(() => []));
});

test('the storage of one co-signer alone reveals nothing, because the share is sealed', () => {
  for (const [i, { secret }] of shares.entries()) {
    const storage = filesBelow(
      join(world.folder, 'state', 'v3', 'do', `conclave-cosigner-${i + 1}-CosignerObject`),
      /nothing/,
    );
    expect(storage.length).toBeGreaterThan(0);
    expect(found(storage, SECRETS.reveal(secret))).toEqual([]);
  }
});

test('no token and no service key is stored or logged', () => {
  const state = filesBelow(join(world.folder, 'state'), /nothing is skipped/);
  const log = readFileSync(join(world.folder, 'workers.log'));
  for (const secret of [
    serviceKey,
    ...tokens.map(({ token }) => token),
    ...tokens.map(({ token }) => token.slice(28, 60)),
  ]) {
    expect([...state, log].some((file) => file.includes(Buffer.from(secret)))).toBe(false);
  }
});
