import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Person, ReadyVault } from '#local/provision.ts';
import type { World } from './world.ts';
import { finished, startWorld } from './world.ts';

/** A policy that the signers change is the one that the co-signers go by, after it and for what was created before. */

let world: World;
let vault: ReadyVault;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
});
afterAll(() => world.end());

interface Change {
  readonly id: string;
  readonly state: string;
}

async function changePolicy(wish: object, ...voices: readonly Person[]): Promise<Change> {
  const { alice } = world.people();
  let change = await alice.client.get<Change>('POST', `/vault/${vault.id}/policy-change`, { body: wish });
  for (const { client } of voices) {
    change = await client.get<Change>('POST', `/vault/${vault.id}/policy-change/${change.id}/approve`);
  }
  return change;
}

test('co-signers take over the policy that a quorum wanted, and sign by it', async () => {
  const { alice, bob, carol } = world.people();
  const recipient = await world.chain.account(5);
  const pay = () => alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000' });
  const before = await pay();
  const rules = {
    recipients: 'address-book',
    addressBook: [{ chain: 'anvil', address: recipient, name: 'Landlord' }],
    higherThresholds: [{ chain: 'anvil', above: '999', threshold: 3 }],
  };
  expect((await changePolicy(rules, alice, bob)).state).toBe('ADOPTED');
  const after = await pay();
  for (const { id } of [before, after]) {
    await alice.client.approve(id);
    const second = await bob.client.approve(id);
    expect([second.state, second.requiredApprovals]).toEqual(['SUBMITTED', 3]);
    await carol.client.approve(id);
    expect((await finished(alice, id)).state).toBe('SUCCEEDED');
  }
  const stranger = await alice.client.ask<{ code: string }>('POST', '/transaction/transfer', {
    body: { vaultId: vault.id, chain: 'anvil', to: await world.chain.account(6), amount: '1' },
  });
  expect([stranger.status, stranger.body.code]).toEqual([422, 'policy-forbids']);
});

test('a vault that lost a signer goes on with the others, version after version', async () => {
  const { alice, bob, carol, mallory } = world.people();
  // Three voices since the last story, which is the most that the policy asks for.
  const open = { recipients: 'anyone', higherThresholds: [] };
  expect((await changePolicy(open, alice, bob)).state).toBe('PENDING');
  expect((await changePolicy(open, carol)).state).toBe('ADOPTED');
  const without = { signers: [alice.id, bob.id, mallory.id] };
  expect((await changePolicy(without, alice, bob)).state).toBe('ADOPTED');
  const to = await world.chain.account(6);
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to, amount: '7' });
  expect((await carol.client.ask('POST', `/transaction/${id}/approve`)).status).toBe(403);
  await alice.client.approve(id);
  await mallory.client.approve(id);
  expect((await finished(alice, id)).state).toBe('SUCCEEDED');
});
