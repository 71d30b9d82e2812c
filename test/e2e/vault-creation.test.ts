import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptVault, addressesOf } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import type { World } from './world.ts';
import { finished, startWorld } from './world.ts';
import type { VaultRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';

/**
 * Covers the first keys of a deployment: the co-signers have no pairings yet, and all processes are
 * killed while they make them.
 */

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.end());

function found(reference: string): Promise<VaultRecord> {
  const { alice, bob, carol } = world.people();
  const members = [alice, bob, carol].map(({ id }) => ({ userId: id, roles: [...ROLES] }));
  const terms = { threshold: 2, approvalMode: 'token', initialState: 'SUBMITTED' } as const;
  const json = { name: 'Treasury', reference, members, ...terms, chains: ['anvil'] };
  return unwrap(world.service().api.internal.vault.$post({ json }));
}

const ROLES = ['initiator', 'signer'] as const;

function shown(vaultId: number): Promise<VaultRecord> {
  return unwrap(world.service().api.internal.vault[':vaultId'].$get({ param: { vaultId: String(vaultId) } }));
}

/**
 * The kills hit the pairing of the first two co-signers, the pairing of the others, and the key
 * generation. All of this takes about 2.5 s.
 */
const POWER_CUTS_MS = [250, 900, 1_600, 2_300];

test('a vault that is killed repeatedly during its key generation gets a key in the end, and signs', async () => {
  const { id } = await found('first');
  for (const ms of POWER_CUTS_MS) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await world.stack().kill();
    await world.restart();
  }
  const again = await found('first');
  expect(again.id).toBe(id);
  const { anvil: address = '' } = await pollUntil('key', () => addressesOf(world.service(), id), 60_000);
  await world.chain.fund(address, 10n ** 18n);
  const { alice, bob } = world.people();
  await acceptVault(id, [alice, bob]);
  const to = await world.chain.account(7);
  const transfer = await alice.client.transfer({ vaultId: id, chain: 'anvil', to, amount: '1000' });
  await alice.client.approve(transfer.id);
  await bob.client.approve(transfer.id);
  expect((await finished(alice, transfer.id)).state).toBe('SUCCEEDED');
  const { keys } = await shown(id);
  expect(keys.length).toBe(1);
});

test('a vault that is created while a co-signer is unreachable has its key once that co-signer is back', async () => {
  await world.stack().stop();
  await world.restart({ absent: [3] });
  const { id } = await found('second');
  await world.stack().sweep();
  const waiting = await shown(id);
  expect(waiting.wallets[0]?.address).toBeNull();
  await world.stack().stop();
  await world.restart();
  const { anvil: address = '' } = await pollUntil('key', () => addressesOf(world.service(), id), 60_000);
  expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/);
});
