import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configure } from '#local/stack/configuration.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { Runtime } from '#local/stack/runtime.ts';
import { startRuntime } from '#local/stack/runtime.ts';
import type { World } from '../world.ts';
import { finished, startWorld } from '../world.ts';

/**
 * Covers co-signers that run in other accounts than the coordinator: separate processes and
 * storage, reached over HTTP, that accept only requests signed by the coordinator.
 */

const RECIPIENT = '0x00000000000000000000000000000000a9a27000';
let folder: string;
let elsewhere: Runtime;
let world: World;
let vault: ReadyVault;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conclave-apart-'));
  const settings = { rpcUrls: {}, cosigners: 4, isCoordinatorPinned: true };
  const { files } = configure(folder, settings);
  elsewhere = await startRuntime(files.slice(1), { folder: join(folder, 'elsewhere') });
  const cosignerUrls = Object.fromEntries(elsewhere.ports.map((port, i) => [i + 1, `http://127.0.0.1:${port}`]));
  world = await startWorld({ folder, cosigners: 4, cosignerUrls });
  vault = await world.vault('treasury', { signingThreshold: 3 });
});
afterAll(async () => {
  await world.end();
  await elsewhere.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a vault whose key requires three of four co-signers in other accounts pays', async () => {
  const { alice } = world.people();
  const body = { vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '1234' };
  const record = await finished(alice, await world.approved(body));
  expect(record).toMatchObject({ state: 'SUCCEEDED' });
  expect(await world.chain.balance(RECIPIENT)).toBe(1234n);
});

test('a caller without the coordinator key can do nothing at the addresses of the co-signers', async () => {
  for (const port of elsewhere.ports) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/pairs/status`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
  }
});

test('a vault with more co-signers than exist is refused', async () => {
  const { alice } = world.people();
  const creation = {
    name: 'Too much',
    members: [{ userId: alice.id, roles: ['signer'] }],
    threshold: 1,
    approvalMode: 'token',
    initialState: 'SUBMITTED',
    chains: ['anvil'],
    signingThreshold: 5,
  };
  const answer = await world
    .service()
    .request<{ errors: { pointer: string }[] }>('POST', '/internal/vault', { body: creation });
  expect([answer.status, answer.body.errors[0]?.pointer]).toEqual([400, '/signingThreshold']);
});
