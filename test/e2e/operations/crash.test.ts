import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld } from '../world.ts';

/**
 * Covers a crash at the worst moment: every process is killed at once and started again with the
 * same state.
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

test('a kill between signing and broadcast leads to one broadcast of the same bytes', async () => {
  const [before, sent] = [await world.chain.balance(recipient), await world.chain.sentBy(vault.address)];
  const arrival = world.gate.hold('eth_sendRawTransaction');
  const { id } = await approved();
  await arrival;
  // The bytes were signed and stored, and have not reached the RPC node.
  const { txHash } = await world.people().alice.client.read(id);
  await world.stack().kill();
  expect(await world.chain.sentBy(vault.address)).toBe(sent);
  await world.restart();
  const done = await finished(world.people().alice, id);
  expect([done.state, done.txHash]).toEqual(['SUCCEEDED', txHash]);
  expect(await world.chain.sentBy(vault.address)).toBe(sent + 1);
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
});

test('a transaction that the RPC node accepted before a kill is found, and not sent a second time', async () => {
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
  // The gate is set only now, because the creation of the transfer also requests the nonce count.
  const arrival = world.gate.hold('eth_getTransactionCount');
  await bob.client.approve(id);
  await arrival;
  await world.stack().kill();
  await world.restart();
  const done = await finished(world.people().alice, id);
  expect([done.state, done.approvalsCounted]).toEqual(['SUCCEEDED', 2]);
  expect(await world.chain.sentBy(vault.address)).toBe(sent + 1);
});

test('payments continue while one co-signer is unreachable, and it works again without intervention', async () => {
  await world.stack().stop();
  await world.restart({ absent: [1] });
  const withoutFirst = await approved();
  expect((await finished(world.people().alice, withoutFirst.id)).state).toBe('SUCCEEDED');
  await world.stack().stop();
  await world.restart({ absent: [3] });
  const withoutThird = await approved();
  expect((await finished(world.people().alice, withoutThird.id)).state).toBe('SUCCEEDED');
});

test('a payment is not signed while two co-signers are unreachable, and is signed when one of them is back', async () => {
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
