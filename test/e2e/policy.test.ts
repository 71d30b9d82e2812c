import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InferRequestType } from 'hono/client';
import type { Connection } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import type { Person, ReadyVault } from '#local/stack/provision.ts';
import { acceptVault } from '#local/stack/provision.ts';
import type { World } from './world.ts';
import { finished, startWorld } from './world.ts';

/**
 * Covers a policy change by the signers: from then on the co-signers apply the new policy, also to
 * earlier transactions.
 */

let world: World;
let vault: ReadyVault;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
});
afterAll(() => world.end());

type PolicyPatch = InferRequestType<Connection['vault'][':vaultId']['policy-change']['$post']>['json'];

async function changePolicy(patch: PolicyPatch, ...approvers: readonly Person[]): Promise<string> {
  const vaultId = String(vault.id);
  const changes = ({ client }: Person) => client.api.vault[':vaultId']['policy-change'];
  const proposed = await unwrap(changes(world.people().alice).$post({ param: { vaultId }, json: patch }));
  const param = { vaultId, changeId: proposed.id };
  let state: string = proposed.state;
  for (const person of approvers) ({ state } = await unwrap(changes(person)[':changeId'].approve.$post({ param })));
  return state;
}

test('co-signers adopt the policy that a quorum approved, and sign by it', async () => {
  const { alice, bob, carol } = world.people();
  const recipient = await world.chain.account(5);
  const pay = () => alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000' });
  const before = await pay();
  const rules: PolicyPatch = {
    limitsIncludeFees: false,
    recipients: 'address-book',
    addressBook: [{ chain: 'anvil', address: recipient, name: 'Landlord' }],
    higherThresholds: [{ chain: 'anvil', above: '999', threshold: 3 }],
  };
  expect(await changePolicy(rules, alice, bob)).toBe('ADOPTED');
  const after = await pay();
  for (const { id } of [before, after]) {
    await alice.client.approve(id);
    const second = await bob.client.approve(id);
    expect([second.state, second.requiredApprovals]).toEqual(['SUBMITTED', 3]);
    await carol.client.approve(id);
    expect((await finished(alice, id)).state).toBe('SUCCEEDED');
  }
  const to = await world.chain.account(6);
  const stranger = alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to, amount: '1' });
  await expect(stranger).rejects.toMatchObject({ status: 422, code: 'policy-forbids' });
});

test('a vault that lost a signer continues with the others, version after version', async () => {
  const { alice, bob, carol, mallory } = world.people();
  // The policy requires three approvals since the previous test. Three is its highest threshold.
  const open: PolicyPatch = { recipients: 'anyone', higherThresholds: [] };
  expect(await changePolicy(open, alice, bob)).toBe('PENDING');
  expect(await changePolicy(open, carol)).toBe('ADOPTED');
  const without = { signers: [alice.id, bob.id, mallory.id] };
  expect(await changePolicy(without, alice, bob)).toBe('ADOPTED');
  await acceptVault(vault.id, [mallory]);
  const to = await world.chain.account(6);
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to, amount: '7' });
  expect((await carol.client.request('POST', `/transaction/${id}/approve`)).status).toBe(403);
  await alice.client.approve(id);
  await mallory.client.approve(id);
  expect((await finished(alice, id)).state).toBe('SUCCEEDED');
});
