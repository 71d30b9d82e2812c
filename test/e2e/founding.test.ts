import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf } from '#local/provision.ts';
import { until } from '#local/until.ts';
import type { World } from './world.ts';
import { finished, startWorld } from './world.ts';

/** The first keys of a deployment: the co-signers have no set-ups with each other yet, and the power goes while they make them. */

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.end());

interface VaultRecord {
  readonly id: number;
  readonly wallets: readonly { readonly address: string | null }[];
  readonly keys: readonly { readonly publicKey: string }[];
}

async function found(reference: string): Promise<VaultRecord> {
  const { alice, bob, carol } = world.people();
  const members = [alice, bob, carol].map(({ id }) => ({ userId: id, roles: ['initiator', 'signer'] }));
  const body = { name: 'Treasury', reference, members, threshold: 2, initialState: 'SUBMITTED', chains: ['anvil'] };
  return world.service().get('POST', '/internal/vault', { body });
}

/** Into the pairing of the first two nodes, of the others, and into the key generation itself: it all takes about 2.5 s. */
const POWER_CUTS_MS = [250, 900, 1_600, 2_300];

test('killed again and again while its key is being made, a vault gets one in the end, and it signs', async () => {
  const { id } = await found('first');
  for (const ms of POWER_CUTS_MS) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await world.stack().kill();
    await world.restart();
  }
  const again = await found('first');
  expect(again.id).toBe(id);
  const address = await until('key', () => addressOf(world.service(), id), 60_000);
  await world.chain.fund(address, 10n ** 18n);
  const { alice, bob } = world.people();
  const to = await world.chain.account(7);
  const transfer = await alice.client.transfer({ vaultId: id, chain: 'anvil', to, amount: '1000' });
  await alice.client.approve(transfer.id);
  await bob.client.approve(transfer.id);
  expect((await finished(alice, transfer.id)).state).toBe('SUCCEEDED');
  const { keys } = await world.service().get<VaultRecord>('GET', `/internal/vault/${id}`);
  expect(keys.length).toBe(1);
});

test('a vault that is founded while a co-signer is away waits for it, and has its key when it is back', async () => {
  await world.stack().stop();
  await world.restart({ absent: [3] });
  const { id } = await found('second');
  await world.stack().sweep();
  const waiting = await world.service().get<VaultRecord>('GET', `/internal/vault/${id}`);
  expect(waiting.wallets[0]?.address).toBeNull();
  await world.stack().stop();
  await world.restart();
  const address = await until('key', () => addressOf(world.service(), id), 60_000);
  expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/);
});
