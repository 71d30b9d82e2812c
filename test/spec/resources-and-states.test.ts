import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import type { Person, ReadyVault } from '#local/stack/provision.ts';
import { ownToken } from '#local/stack/provision.ts';
import type { World } from '../e2e/world.ts';
import { finished, startWorld } from '../e2e/world.ts';

/**
 * Covers parts 1 to 3 of the specification, sentence by sentence and row by row, through the API
 * and on a real chain.
 */

let world: World;
let vault: ReadyVault;
let drafts: ReadyVault;
let recipient: string;
let token: string;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  drafts = await world.vault('drafts', { initialState: 'DRAFT' });
  recipient = await world.chain.account(7);
  token = await world.chain.deployDollar(vault.address, 1_000n);
});
afterAll(() => world.end());

const position = () => ({ vaultId: vault.id, chain: 'anvil' });
const transfer = (differences: object = {}) => ({ ...position(), to: recipient, amount: '1000', ...differences });

async function approved(id: string, ...approvers: readonly Person[]): Promise<TransactionRecord> {
  let record = await world.people().alice.client.read(id);
  for (const { client } of approvers) record = await client.approve(id);
  return record;
}

async function carriedOut(id: string): Promise<TransactionRecord> {
  const { alice, bob } = world.people();
  await approved(id, alice, bob);
  return finished(alice, id);
}

describe('part 1: what the service does', () => {
  test('a client creates a transfer, a message signature, a contract interaction or an ERC-20 approval', async () => {
    const { transaction } = world.people().alice.client.api;
    const json = { ...position(), message: 'hello' };
    const call = { ...position(), to: token, data: '0x18160ddd', value: '0' };
    const leave = { ...position(), tokenAddress: token, spender: recipient, amount: '5' };
    const made = [
      await unwrap(transaction.transfer.$post({ json: transfer() })),
      await unwrap(transaction.message.$post({ json })),
      await unwrap(transaction['contract-interaction'].$post({ json: call })),
      await unwrap(transaction['erc20-approve'].$post({ json: leave })),
    ];
    const kinds = ['transfer', 'message', 'contract-interaction', 'erc20-approve'];
    expect(made.map(({ kind }) => kind)).toEqual(kinds);
    expect(made.map(({ state }) => state)).toEqual(kinds.map(() => 'SUBMITTED'));
  });

  test('after the threshold is met the server signs, broadcasts, and sets SUCCEEDED when the chain has confirmed', async () => {
    const before = await world.chain.balance(recipient);
    const { id } = await world.people().alice.client.transfer(transfer());
    expect((await carriedOut(id)).state).toBe('SUCCEEDED');
    expect(await world.chain.balance(recipient)).toBe(before + 1000n);
  });

  test('clients read the state of a transaction by polling', async () => {
    const { alice } = world.people();
    const { id } = await alice.client.transfer(transfer());
    expect((await alice.client.read(id)).state).toBe('SUBMITTED');
  });
});

describe('part 2: transaction', () => {
  test('id is returned on creation, and is {txId} in paths', async () => {
    const { alice } = world.people();
    const { id } = await alice.client.transfer(transfer());
    expect((await alice.client.read(id)).id).toBe(id);
  });

  test('txHash is the hash on the chain, read from the transaction', async () => {
    const { alice } = world.people();
    const { id, txHash } = await alice.client.transfer(transfer());
    expect(txHash).toBeNull();
    const done = await carriedOut(id);
    expect(done.txHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await alice.client.read(id)).txHash).toBe(done.txHash);
  });

  test('displayType is SENT for an outgoing transfer, CONTRACT_INTERACTION for a call, MESSAGE for a signed message', async () => {
    const { alice } = world.people();
    const { transaction } = alice.client.api;
    const call = { ...position(), to: token, data: '0x18160ddd', value: '0' };
    const message = { ...position(), message: 'hello' };
    const types = [
      (await alice.client.transfer(transfer())).displayType,
      (await unwrap(transaction['contract-interaction'].$post({ json: call }))).displayType,
      (await unwrap(transaction.message.$post({ json: message }))).displayType,
    ];
    expect(types).toEqual(['SENT', 'CONTRACT_INTERACTION', 'MESSAGE']);
  });

  test('the visibility status is set with the visibility endpoint', async () => {
    const { alice } = world.people();
    const { id, visible } = await alice.client.transfer(transfer());
    const patch = { param: { txId: id }, json: { visible: false } };
    const hidden = await unwrap(alice.client.api.transaction[':txId'].visibility.$patch(patch));
    expect([visible, hidden.visible]).toEqual([true, false]);
  });
});

describe('part 2: vault', () => {
  test('a vault is identified by an integer, in bodies and in paths', async () => {
    expect(Number.isInteger(vault.id)).toBe(true);
    const { alice } = world.people();
    const { vaultId } = await alice.client.transfer(transfer());
    expect(vaultId).toBe(vault.id);
    expect((await alice.client.transactions(vault.id)).transactions[0]?.vaultId).toBe(vault.id);
  });

  test('a vault has signers and a threshold', async () => {
    const { alice, bob, carol } = world.people();
    const param = { vaultId: String(vault.id) };
    const { policy } = await unwrap(alice.client.api.vault[':vaultId'].policy.$get({ param, query: {} }));
    expect([policy.threshold, new Set(policy.signers)]).toEqual([2, new Set([alice.id, bob.id, carol.id])]);
  });

  test('the configuration of a vault decides whether a transaction starts in DRAFT or SUBMITTED', async () => {
    const { alice } = world.people();
    const draft = await alice.client.transfer(transfer({ vaultId: drafts.id }));
    const submitted = await alice.client.transfer(transfer());
    expect([draft.state, submitted.state]).toEqual(['DRAFT', 'SUBMITTED']);
  });
});

describe('part 2: personal access token', () => {
  test('a token has id, name, expiresAt in Unix seconds, enabled and dates; its value is returned only on creation and rotation', async () => {
    const { alice } = world.people();
    const json = { name: 'payouts', expiresAt: 4_000_000_000 };
    const issued = await ownToken(world.stack().url, alice.cookie, json);
    expect(issued).toMatchObject({ name: 'payouts', expiresAt: 4_000_000_000, enabled: true });
    expect(issued.token.startsWith('service_pat_')).toBe(true);
    const tokens = alice.client.api['personal-access-token'];
    const read = await unwrap(tokens[':id'].$get({ param: { id: issued.id } }));
    expect(read).toMatchObject({ id: issued.id, name: 'payouts', createdAt: expect.any(String) });
    const list = await unwrap(tokens.$get());
    expect(JSON.stringify([read, list])).not.toContain(issued.token.slice(28));
  });
});

describe('part 3: states and transitions', () => {
  test('a new transaction is DRAFT or SUBMITTED, and the answer has its id and state', async () => {
    const { alice } = world.people();
    const made = await alice.client.transfer(transfer({ vaultId: drafts.id }));
    expect(made).toMatchObject({ id: expect.any(String), state: 'DRAFT' });
  });

  test('an approval below the threshold leaves the state pending, and further approvals are required', async () => {
    const { alice } = world.people();
    const { id } = await alice.client.transfer(transfer());
    const once = await approved(id, alice);
    expect([once.state, once.approvalsCounted, once.requiredApprovals]).toEqual(['SUBMITTED', 1, 2]);
  });

  test('the approval that reaches the threshold starts signing, and the transaction is in flight until confirmed', async () => {
    const { alice, bob } = world.people();
    const { id } = await alice.client.transfer(transfer());
    expect((await approved(id, alice, bob)).state).toBe('SIGNING');
    expect((await finished(alice, id)).state).toBe('SUCCEEDED');
  });

  test('a broadcast transaction becomes SUCCEEDED when the chain confirms it, and then has a txHash', async () => {
    const { id } = await world.people().alice.client.transfer(transfer());
    const done = await carriedOut(id);
    expect([done.state, done.txHash !== null, done.block !== null]).toEqual(['SUCCEEDED', true, true]);
  });

  test('a rejection by any signer ends a pending transaction, and later approvals are refused', async () => {
    const { alice, carol, bob } = world.people();
    const { id } = await alice.client.transfer(transfer());
    await approved(id, alice);
    expect((await carol.client.reject(id)).state).toBe('REJECTED');
    await expect(bob.client.approve(id)).rejects.toMatchObject({ status: 409 });
  });
});
