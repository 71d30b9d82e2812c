import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { encodeAbiParameters, getAddress, keccak256, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld } from '../world.ts';

/** Covers EVM transfers over the public API, with the whole service and a real chain. */

let world: World;
let vault: ReadyVault;
let recipient: string;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  recipient = await world.chain.account(7);
});
afterAll(() => world.end());

/** Sets the native balance of the vault to exactly `value` wei, without a transaction. */
const setBalance = (value: bigint) =>
  anvilClient(world.chainUrl).setBalance({ address: getAddress(vault.address), value });

/**
 * Sets the token balance of the vault to exactly `amount`. The balances of a Demo Dollar are the
 * map in storage slot 1.
 */
async function setTokenBalance(token: string, amount: bigint): Promise<void> {
  const position = [{ type: 'address' }, { type: 'uint256' }] as const;
  const index = keccak256(encodeAbiParameters(position, [getAddress(vault.address), 1n]));
  await anvilClient(world.chainUrl).setStorageAt({
    address: getAddress(token),
    index,
    value: numberToHex(amount, { size: 32 }),
  });
  expect(await world.chain.tokenBalance(token, vault.address)).toBe(amount);
}

function payment(differences: Partial<TransferBody> = {}): TransferBody {
  return { vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000', ...differences };
}

test('two approvals run a transfer: exactly the amount arrives, exactly once', async () => {
  const { alice, bob } = world.people();
  const before = await world.chain.balance(recipient);
  const { id } = await alice.client.transfer(payment());
  await alice.client.approve(id);
  const second = await bob.client.approve(id);
  expect(second.state).toBe('SIGNING');
  const done = await finished(alice, id);
  expect([done.state, done.stateReason, done.failure]).toEqual(['SUCCEEDED', null, null]);
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
  expect(await world.chain.sentBy(vault.address)).toBe(1);
});

test('simultaneous approvals are counted one by one, and the transfer is signed once', async () => {
  const { alice, bob, carol } = world.people();
  const sent = await world.chain.sentBy(vault.address);
  const { id } = await alice.client.transfer(payment());
  const approvals = [alice, bob, carol, alice, bob, carol].map((signer) =>
    signer.client.request<TransactionRecord>('POST', `/transaction/${id}/approve`),
  );
  const answers = await Promise.all(approvals);
  // The third approval may arrive after the decision. The service then answers with a conflict.
  expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
  const done = await finished(alice, id);
  expect(done.state).toBe('SUCCEEDED');
  expect(done.approvalsCounted).toBe(2);
  expect(await world.chain.sentBy(vault.address)).toBe(sent + 1);
});

test('two approvals by one signer count once', async () => {
  const { alice, bob } = world.people();
  const { id } = await alice.client.transfer(payment());
  await alice.client.approve(id);
  const again = await alice.client.approve(id);
  expect([again.state, again.approvalsCounted]).toEqual(['SUBMITTED', 1]);
  await bob.client.approve(id);
  expect((await finished(alice, id)).state).toBe('SUCCEEDED');
});

test('a user outside the vault can neither read, approve, reject, create nor list its transactions', async () => {
  const { alice, mallory } = world.people();
  const { id } = await alice.client.transfer(payment());
  const tries = await Promise.all([
    mallory.client.request('GET', `/transaction/${id}`),
    mallory.client.request('GET', `/transaction/${id}/challenge`),
    mallory.client.request('POST', `/transaction/${id}/approve`),
    mallory.client.request('POST', `/transaction/${id}/reject`),
    mallory.client.request('POST', '/transaction/transfer', { body: payment() }),
    mallory.client.request('GET', `/vault/${vault.id}/transactions`),
  ]);
  expect(tries.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
  expect((await alice.client.read(id)).approvalsCounted).toBe(0);
});

test('a rejected transfer is never signed, whatever approvals follow', async () => {
  const { alice, bob, carol } = world.people();
  const sent = await world.chain.sentBy(vault.address);
  const { id } = await alice.client.transfer(payment());
  await alice.client.approve(id);
  const rejected = await bob.client.reject(id);
  expect(rejected.state).toBe('REJECTED');
  const late = await carol.client.request('POST', `/transaction/${id}/approve`);
  expect(late.status).toBe(409);
  await world.stack().sweep();
  // The next transfer goes through the same queue. If the rejected one had been in the queue, it
  // would have been sent first.
  const next = await alice.client.transfer(payment());
  await alice.client.approve(next.id);
  await bob.client.approve(next.id);
  expect((await finished(alice, next.id)).state).toBe('SUCCEEDED');
  expect((await alice.client.read(id)).state).toBe('REJECTED');
  expect(await world.chain.sentBy(vault.address)).toBe(sent + 1);
});

test('a vault may be configured so that its transfers begin as drafts, which require the same approvals', async () => {
  const { alice, bob } = world.people();
  const drafts = await world.vault('drafts', { initialState: 'DRAFT' });
  const created = await alice.client.transfer(payment({ vaultId: drafts.id }));
  expect(created.state).toBe('DRAFT');
  await alice.client.approve(created.id);
  await bob.client.approve(created.id);
  expect((await finished(alice, created.id)).state).toBe('SUCCEEDED');
});

test('a transfer that the balance no longer covers fails with the reason, and the next transfer uses its nonce', async () => {
  const { alice, bob } = world.people();
  const held = await world.chain.balance(vault.address);
  const { id } = await alice.client.transfer(payment({ amount: ((held * 6n) / 10n).toString() }));
  // The test lowers the balance directly. After a payment of the vault the transfer would wait
  // instead, because a payment that is not final may still return its amount.
  await setBalance(held / 2n);
  const sent = await world.chain.sentBy(vault.address);
  await alice.client.approve(id);
  await bob.client.approve(id);
  const failed = await finished(alice, id);
  expect([failed.state, failed.stateReason, failed.txHash]).toEqual(['FAILED', 'INSUFFICIENT_FUNDS', null]);
  await setBalance(held);
  const next = await alice.client.transfer(payment());
  await alice.client.approve(next.id);
  await bob.client.approve(next.id);
  const done = await finished(alice, next.id);
  expect([done.state, done.nonce]).toEqual(['SUCCEEDED', String(sent)]);
});

test('a token transfer arrives, and a token transfer that would revert is never signed', async () => {
  const { alice, bob } = world.people();
  const token = await world.chain.deployDollar(vault.address, 500n);
  const good = await alice.client.transfer(payment({ amount: '200', tokenAddress: token }));
  await alice.client.approve(good.id);
  await bob.client.approve(good.id);
  expect((await finished(alice, good.id)).state).toBe('SUCCEEDED');
  expect(await world.chain.tokenBalance(token, recipient)).toBe(200n);
  const lost = await world.chain.deployDollar(vault.address, 500n);
  const tooMuch = await alice.client.transfer(payment({ amount: '301', tokenAddress: lost }));
  await setTokenBalance(lost, 300n);
  await alice.client.approve(tooMuch.id);
  await bob.client.approve(tooMuch.id);
  const failed = await finished(alice, tooMuch.id);
  expect([failed.state, failed.txHash]).toEqual(['FAILED', null]);
  expect(await world.chain.tokenBalance(lost, vault.address)).toBe(300n);
});

test('a retry with the same Idempotency-Key returns the transfer of the first request', async () => {
  const { alice } = world.people();
  const [first, second] = await Promise.all([
    alice.client.transfer(payment(), 'payout-42'),
    alice.client.transfer(payment(), 'payout-42'),
  ]);
  expect(second.id).toBe(first.id);
});

test('many simultaneous transfers of one vault use consecutive nonces, and all of them arrive', async () => {
  const { alice, bob } = world.people();
  const before = await world.chain.balance(recipient);
  const sent = await world.chain.sentBy(vault.address);
  const created = await Promise.all(Array.from({ length: 8 }, () => alice.client.transfer(payment())));
  await Promise.all(created.flatMap(({ id }) => [alice, bob].map((signer) => signer.client.approve(id))));
  const done = await Promise.all(created.map(({ id }) => finished(alice, id)));
  expect(done.map(({ state }) => state)).toEqual(created.map(() => 'SUCCEEDED'));
  const nonces = done.map(({ nonce }) => Number.parseInt(nonce ?? '', 10)).toSorted((a, b) => a - b);
  expect(nonces).toEqual(created.map((_, i) => sent + i));
  expect(await world.chain.balance(recipient)).toBe(before + 8000n);
});

test('an unreachable RPC node delays a transfer and does not fail it', async () => {
  const { alice, bob } = world.people();
  const { id } = await alice.client.transfer(payment());
  world.gate.close(503);
  await alice.client.approve(id);
  await bob.client.approve(id);
  const waiting = await reaches(alice, id, ({ stateReason }) => stateReason !== null);
  expect([waiting.state, waiting.stateReason]).toEqual(['SIGNING', 'CHAIN_UNAVAILABLE']);
  world.gate.close(null);
  expect((await finished(alice, id)).state).toBe('SUCCEEDED');
});

test('the list has every transfer, the newest first', async () => {
  const { alice } = world.people();
  const { id } = await alice.client.transfer(payment());
  const { transactions } = await alice.client.transactions(vault.id, { limit: '100' });
  expect(transactions[0]?.id).toBe(id);
  expect(transactions.some(({ state }) => state === 'REJECTED')).toBe(true);
});

test('an operator can do everything of the internal interface from a command line', async () => {
  const person = await admin('user', 'create', '--name', 'Dora', '--email', 'dora@example.com');
  const { id: user } = person.output as { readonly id: string };
  const token = await admin('token', 'issue', '--user', user, '--name', 'laptop', '--expires', '4000000000');
  expect(token.output).toMatchObject({
    name: 'laptop',
    expiresAt: 4_000_000_000,
    token: expect.stringMatching(/^service_pat_/),
  });
  const member = `${user}:signer,admin`;
  const vaultArguments = ['--name', 'Payroll', '--threshold', '1', '--chain', 'anvil', '--member', member, '--draft'];
  const unsaid = await admin('vault', 'create', ...vaultArguments);
  expect([unsaid.status, unsaid.said]).toEqual([2, expect.stringContaining('--approval-mode is missing')]);
  const mode = ['--approval-mode', 'token'];
  const created = await admin('vault', 'create', ...vaultArguments, ...mode, '--reference', 'payroll');
  expect(created.said).toContain('to count approvals');
  expect(created.output).toMatchObject({ name: 'Payroll', initialState: 'DRAFT', members: [{ userId: user }] });
  const { id } = created.output as { readonly id: number };
  const shown = await admin('vault', 'show', '--vault', String(id));
  expect(shown.output).toMatchObject({ id, policy: { threshold: 1, signers: [user] } });
  const { bob } = world.people();
  const seated = await admin('member', 'set', '--vault', String(id), '--user', bob.id, '--role', 'viewer');
  expect(seated.output).toMatchObject({ members: [{ userId: user }, { userId: bob.id, roles: ['viewer'] }] });
  const rules = JSON.stringify({ limits: [{ chain: 'anvil', perDay: '5' }] });
  const signers = ['--signer', user, '--signer', bob.id, '--threshold', '2'];
  const requested = await admin(
    'policy',
    'propose',
    '--vault',
    String(id),
    ...signers,
    '--rules',
    rules,
    '--note',
    'Two',
  );
  expect(requested.output).toMatchObject({
    state: 'PENDING',
    note: 'Two',
    policy: { version: 2, threshold: 2, limits: [{ perDay: '5' }] },
  });
  const stuck = await admin('member', 'remove', '--vault', String(id), '--user', user);
  expect([stuck.status, (stuck.output as { code: string }).code]).toEqual([1, 'needs-quorum']);
  await admin('member', 'remove', '--vault', String(id), '--user', bob.id);
  expect((await admin('dead-letter', 'list')).output).toEqual({ deadLetters: [] });
  for (const wrong of [
    [],
    ['vault', 'destroy'],
    ['vault', 'show'],
    ['policy', 'propose', '--vault', '1', '--threshold', 'x'],
    ['policy', 'propose', '--vault', '1', '--rules', '[1]'],
  ]) {
    const misuse = await admin(...wrong);
    expect([wrong, misuse.status, misuse.said.includes('npm run conclave -- admin')]).toEqual([wrong, 2, true]);
  }
});

async function admin(...args: readonly string[]) {
  const child = spawn(process.execPath, ['cli/conclave.ts', 'admin', ...args], {
    env: { ...process.env, CONCLAVE_URL: world.stack().url, CONCLAVE_SERVICE_KEY: world.stack().serviceKey },
  });
  const [output, said, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
  ]);
  return { status, said, output: output === '' ? null : (JSON.parse(output) as unknown) };
}
