import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld } from '../world.ts';

/**
 * Covers the state that a crash at the worst moment leaves: every process is killed at once and
 * started again on the same state.
 */

let world: World;
let vault: ReadyVault;
let recipient: string;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  recipient = await world.chain.account(7);
});
afterAll(() => world.end());

function payment(differences: Partial<TransferBody> = {}): TransferBody {
  return { vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000', ...differences };
}

async function approved(): Promise<TransactionRecord> {
  const { alice, bob } = world.people();
  const created = await alice.client.transfer(payment());
  await alice.client.approve(created.id);
  await bob.client.approve(created.id);
  return created;
}

test('a kill between signing and broadcast is followed by the same bytes, sent once', async () => {
  const [before, sent] = [await world.chain.balance(recipient), await world.chain.sentBy(vault.address)];
  const arrival = world.gate.hold('eth_sendRawTransaction');
  const { id } = await approved();
  await arrival;
  // The bytes were signed and stored, and have not reached the node.
  const { txHash } = await world.people().alice.client.read(id);
  await world.stack().kill();
  expect(await world.chain.sentBy(vault.address)).toBe(sent);
  await world.restart();
  const done = await finished(world.people().alice, id);
  expect([done.state, done.txHash]).toEqual(['SUCCEEDED', txHash]);
  expect(await world.chain.sentBy(vault.address)).toBe(sent + 1);
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
});

test('a transaction that the node accepted before a kill is found, and not sent a second time', async () => {
  const [before, sent] = [await world.chain.balance(recipient), await world.chain.sentBy(vault.address)];
  const arrival = world.gate.hold('eth_sendRawTransaction');
  const { id } = await approved();
  await (await arrival).deliverSilently();
  await world.stack().kill();
  await world.restart();
  const done = await finished(world.people().alice, id);
  expect(done.state).toBe('SUCCEEDED');
  expect(await world.chain.sentBy(vault.address)).toBe(sent + 1);
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
});

test('a kill during the fee request keeps the approvals, and the payment is signed after the restart', async () => {
  const sent = await world.chain.sentBy(vault.address);
  const { alice, bob } = world.people();
  const { id } = await alice.client.transfer(payment());
  await alice.client.approve(id);
  // The creation requests the count as well.
  const arrival = world.gate.hold('eth_getTransactionCount');
  await bob.client.approve(id);
  await arrival;
  await world.stack().kill();
  await world.restart();
  const done = await finished(world.people().alice, id);
  expect([done.state, done.approvalsCounted]).toEqual(['SUCCEEDED', 2]);
  expect(await world.chain.sentBy(vault.address)).toBe(sent + 1);
});

test('one unreachable co-signer stops nothing, and comes back without intervention', async () => {
  await world.stack().stop();
  await world.restart({ absent: [1] });
  const withoutFirst = await approved();
  expect((await finished(world.people().alice, withoutFirst.id)).state).toBe('SUCCEEDED');
  await world.stack().stop();
  await world.restart({ absent: [3] });
  const withoutThird = await approved();
  expect((await finished(world.people().alice, withoutThird.id)).state).toBe('SUCCEEDED');
});

test('no payment is signed with two co-signers unreachable, and it is with one of them back', async () => {
  await world.stack().stop();
  await world.restart({ absent: [2, 3] });
  const sent = await world.chain.sentBy(vault.address);
  const { id } = await approved();
  const { alice } = world.people();
  const waiting = await reaches(alice, id, ({ stateReason }) => stateReason !== null);
  expect([waiting.state, waiting.stateReason, waiting.txHash]).toEqual(['SIGNING', 'SIGNER_UNAVAILABLE', null]);
  expect(await world.chain.sentBy(vault.address)).toBe(sent);
  await world.stack().stop();
  await world.restart({ absent: [2] });
  expect((await finished(world.people().alice, id)).state).toBe('SUCCEEDED');
  expect(await world.chain.sentBy(vault.address)).toBe(sent + 1);
});
