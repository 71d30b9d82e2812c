import { encodeFunctionData, erc20Abi, getAddress, recoverMessageAddress } from 'viem';
import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { ownToken } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import type { World } from '../e2e/world.ts';
import { finished, startWorld } from '../e2e/world.ts';

/**
 * Covers part 4 of the specification: every row of its tables, through the API of a running stack.
 */

let world: World;
let vault: ReadyVault;
let recipient: string;
let token: string;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  recipient = await world.chain.account(7);
  token = await world.chain.deployDollar(vault.address, 1_000n);
});
afterAll(() => world.end());

const position = () => ({ vaultId: vault.id, chain: 'anvil' });
const transfer = (differences: object = {}) => ({ ...position(), to: recipient, amount: '1000', ...differences });
const api = () => world.people().alice.client.api;

async function carriedOut(id: string) {
  const { alice, bob } = world.people();
  await alice.client.approve(id);
  await bob.client.approve(id);
  return finished(alice, id);
}

describe('part 4: transaction creation', () => {
  test('POST /transaction/estimate-fee returns a fee estimate', async () => {
    const estimate = await unwrap(api().transaction['estimate-fee'].$post({ json: transfer() }));
    const [slow, normal, fast] = [estimate.slow, estimate.normal, estimate.fast].map(({ maxFee }) => BigInt(maxFee));
    expect([slow !== undefined && slow > 0n, (normal ?? 0n) >= (slow ?? 0n), (fast ?? 0n) >= (normal ?? 0n)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('POST /transaction/transfer creates a native transfer with a note where tokenAddress is null', async () => {
    const before = await world.chain.balance(recipient);
    const made = await unwrap(
      api().transaction.transfer.$post({ json: transfer({ tokenAddress: null, note: 'Rent' }) }),
    );
    expect([made.note, made.asset?.tokenAddress, made.state]).toEqual(['Rent', null, 'SUBMITTED']);
    await carriedOut(made.id);
    expect(await world.chain.balance(recipient)).toBe(before + 1000n);
  });

  test('POST /transaction/transfer creates a token transfer where tokenAddress names a token', async () => {
    const before = await world.chain.tokenBalance(token, recipient);
    const made = await unwrap(
      api().transaction.transfer.$post({ json: transfer({ tokenAddress: token, amount: '7' }) }),
    );
    await carriedOut(made.id);
    expect(await world.chain.tokenBalance(token, recipient)).toBe(before + 7n);
  });

  test('POST /transaction/message creates a message that the wallet signs', async () => {
    const message = 'I am the treasury';
    const made = await unwrap(api().transaction.message.$post({ json: { ...position(), message } }));
    const { signature } = await carriedOut(made.id);
    expect(await recoverMessageAddress({ message, signature: signature as Hex })).toBe(vault.address);
  });

  test('POST /transaction/contract-interaction creates a call with exactly this calldata', async () => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [getAddress(recipient), 3n] });
    const before = await world.chain.tokenBalance(token, recipient);
    const json = { ...position(), to: token, data, value: '0' };
    const made = await unwrap(api().transaction['contract-interaction'].$post({ json }));
    expect([made.data, made.call?.function]).toEqual([data, 'transfer']);
    expect((await carriedOut(made.id)).state).toBe('SUCCEEDED');
    expect(await world.chain.tokenBalance(token, recipient)).toBe(before + 3n);
  });

  test('POST /transaction/erc20-approve creates an allowance of this amount for the spender', async () => {
    const json = { ...position(), tokenAddress: token, spender: recipient, amount: '9' };
    const made = await unwrap(api().transaction['erc20-approve'].$post({ json }));
    expect([made.spender, made.amount]).toEqual([recipient, '9']);
    expect((await carriedOut(made.id)).state).toBe('SUCCEEDED');
  });
});

describe('part 4: approval and reading', () => {
  test("GET /transaction/{txId}/challenge answers a vault signer with the signer's own token", async () => {
    const { alice, bob, mallory } = world.people();
    const { id, digest } = await alice.client.transfer(transfer());
    expect((await bob.client.challenge(id)).digest).toBe(digest);
    await expect(mallory.client.challenge(id)).rejects.toMatchObject({ status: 403 });
  });

  test('POST /transaction/{txId}/approve takes no body, from a vault signer', async () => {
    const { alice, bob, mallory } = world.people();
    const { id } = await alice.client.transfer(transfer());
    expect((await bob.client.approve(id)).approvals.map(({ userId }) => userId)).toEqual([bob.id]);
    await expect(mallory.client.approve(id)).rejects.toMatchObject({ status: 403 });
  });

  test('POST /transaction/{txId}/reject takes no body, from any signer, while the transaction is pending', async () => {
    const { alice, bob, carol } = world.people();
    const { id } = await alice.client.transfer(transfer());
    expect((await carol.client.reject(id)).state).toBe('REJECTED');
    await expect(bob.client.reject(id)).rejects.toMatchObject({ status: 409 });
  });

  test('GET /transaction/{txId} returns at least state and txHash', async () => {
    const { alice } = world.people();
    const { id } = await alice.client.transfer(transfer());
    expect(await alice.client.read(id)).toMatchObject({ id, state: 'SUBMITTED', txHash: null });
  });

  test('PATCH /transaction/{txId}/visibility shows a transaction with true, and hides it with false', async () => {
    const { alice } = world.people();
    const { id } = await alice.client.transfer(transfer());
    const show = (visible: boolean) =>
      unwrap(api().transaction[':txId'].visibility.$patch({ param: { txId: id }, json: { visible } }));
    const isListed = async () =>
      (await alice.client.transactions(vault.id, { limit: '100' })).transactions.some((one) => one.id === id);
    expect([(await show(false)).visible, await isListed()]).toEqual([false, false]);
    expect([(await show(true)).visible, await isListed()]).toEqual([true, true]);
  });

  test('GET /vault/{vaultId}/transactions returns the transactions of the vault', async () => {
    const { alice } = world.people();
    const { id } = await alice.client.transfer(transfer());
    expect((await alice.client.transactions(vault.id)).transactions[0]?.id).toBe(id);
  });
});

test('part 4: POST /vault/{vaultId}/reprocess-incoming-transactions evaluates incoming transactions again', async () => {
  const { alice } = world.people();
  const { accepted, reportId } = await alice.client.requestRescan(vault.id);
  expect(accepted).toBe(true);
  // The vault received its funds before the service scanned its address.
  const funded = async () => {
    const { transactions } = await alice.client.transactions(vault.id, { limit: '100' });
    return transactions.find(({ displayType }) => displayType === 'RECEIVED') ?? null;
  };
  expect((await pollUntil('what came in', funded, 20_000)).direction).toBe('in');
  // GET /vault/{vaultId}/reprocess-report and GET /vault/{vaultId}/reprocess-report/{reportId}
  const reports = api().vault[':vaultId']['reprocess-report'];
  const param = { vaultId: String(vault.id) };
  const report = await unwrap(reports[':reportId'].$get({ param: { ...param, reportId } }));
  expect(report).toMatchObject({ id: reportId, wallets: [{ chain: 'anvil', address: vault.address }] });
  const { data } = await unwrap(reports.$get({ param }));
  expect(data.map(({ id }) => id)).toContain(reportId);
});

describe('part 4: personal access tokens', () => {
  const tokens = () => api()['personal-access-token'];

  async function spare() {
    return ownToken(world.stack().url, world.people().alice.cookie, { name: 'spare' });
  }
  const me = async (value: string) => {
    const headers = { authorization: `Bearer ${value}` };
    return (await fetch(`${world.stack().url}/user/me`, { headers })).status;
  };

  test('GET /personal-access-token returns all tokens without their values', async () => {
    const { id, token: value } = await spare();
    const list = await unwrap(tokens().$get());
    expect(list.tokens.some((one) => one.id === id)).toBe(true);
    expect(JSON.stringify(list)).not.toContain(value.slice(28));
  });

  test('GET /personal-access-token/{id} returns name, dates and enabled status', async () => {
    const { id } = await spare();
    const read = await unwrap(tokens()[':id'].$get({ param: { id } }));
    expect(read).toMatchObject({ name: 'spare', enabled: true, createdAt: expect.any(String) });
  });

  test('PATCH /personal-access-token/{id} changes any of name, expiresAt, enabled', async () => {
    const { id, token: value } = await spare();
    const json = { name: 'renamed', expiresAt: 4_000_000_000, enabled: false };
    const changed = await unwrap(tokens()[':id'].$patch({ param: { id }, json }));
    expect(changed).toMatchObject(json);
    expect(await me(value)).toBe(401);
  });

  test('POST /personal-access-token/{id}/rotate returns a new value, and the old value works in its grace period', async () => {
    const { id, token: value } = await spare();
    const rotated = await unwrap(tokens()[':id'].rotate.$post({ param: { id } }));
    expect(rotated.token).not.toBe(value);
    expect([await me(rotated.token), await me(value)]).toEqual([200, 200]);
  });

  test('DELETE /personal-access-token/{id} deletes the token, and it cannot be restored', async () => {
    const { id, token: value } = await spare();
    expect((await tokens()[':id'].$delete({ param: { id } })).status).toBe(204);
    expect(await me(value)).toBe(401);
    const { alice } = world.people();
    const again = await alice.client.request('PATCH', `/personal-access-token/${id}`, { body: { enabled: true } });
    expect(again.status).toBe(404);
  });

  test('the API has no endpoint that creates a token', async () => {
    const answer = await world.people().alice.client.request('POST', '/personal-access-token', { body: { name: 'x' } });
    expect(answer.status).toBe(405);
  });
});

test("part 4: GET /user/me returns the profile of the token's owner", async () => {
  const { bob } = world.people();
  const profile = await unwrap(bob.client.api.user.me.$get());
  expect(profile).toMatchObject({ id: bob.id, name: 'bob' });
});
