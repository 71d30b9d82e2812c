import { encodeFunctionData, erc20Abi, getAddress, recoverMessageAddress, recoverTypedDataAddress } from 'viem';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { World } from './world.ts';
import { finished, startWorld } from './world.ts';

/**
 * Covers messages, contract calls, allowances and estimates over the public API, against a real
 * chain.
 */

let world: World;
let vault: ReadyVault;
let dollar: string;
let recipient: string;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  dollar = await world.chain.deployDollar(vault.address, 1_000n);
  recipient = await world.chain.account(7);
});
afterAll(() => world.end());

/** The function uses no typed client, because some tests send invalid requests. */
function create(kind: string, body: object) {
  const { alice } = world.people();
  return alice.client.request<TransactionRecord & { readonly code: string; readonly detail: string }>(
    'POST',
    `/transaction/${kind}`,
    { body: { vaultId: vault.id, chain: 'anvil', ...body } },
  );
}

/** Creates a transaction as alice, approves it as alice and bob, and waits for its end. */
async function carriedOut(kind: string, body: object): Promise<TransactionRecord> {
  const { alice, bob } = world.people();
  const created = await create(kind, body);
  if (created.status !== 201) throw new Error(JSON.stringify(created.body));
  await alice.client.approve(created.body.id);
  await bob.client.approve(created.body.id);
  await finished(alice, created.body.id);
  return alice.client.read(created.body.id);
}

test('the wallet signs a text, without a transaction on the chain', async () => {
  const sent = await world.chain.sentBy(vault.address);
  const message = 'Sign in to example.com\n\nNonce: 7';
  const done = await carriedOut('message', { message });
  expect([done.state, done.txHash, done.nonce, done.feePaid]).toEqual(['SUCCEEDED', null, null, null]);
  expect(await recoverMessageAddress({ message, signature: done.signature as Hex })).toBe(vault.address);
  expect(await world.chain.sentBy(vault.address)).toBe(sent);
});

test('the wallet signs typed data', async () => {
  const typed = {
    types: { Order: [{ name: 'amount', type: 'uint256' }] },
    primaryType: 'Order',
    domain: { name: 'Exchange', chainId: 31337 },
    message: { amount: '340282366920938463463374607431768211456' },
  } as const;
  const done = await carriedOut('message', { message: JSON.stringify(typed) });
  const message = { amount: BigInt(typed.message.amount) };
  const signer = await recoverTypedDataAddress({ ...typed, message, signature: done.signature as Hex });
  expect([done.state, signer]).toEqual(['SUCCEEDED', vault.address]);
});

test('a message is signed while the RPC node of the chain is unreachable', async () => {
  world.gate.close(500);
  try {
    const done = await carriedOut('message', { message: 'the chain is away' });
    expect(done.state).toBe('SUCCEEDED');
  } finally {
    world.gate.close(null);
  }
});

test('a message is signed although no RPC node is configured for the chain', async () => {
  const { alice, bob } = world.people();
  const offline = await world.vault('offline', { chains: ['ethereum-sepolia'] });
  const body = { vaultId: offline.id, chain: 'ethereum-sepolia', message: 'no node for this chain' };
  const { id } = await unwrap(alice.client.api.transaction.message.$post({ json: body }));
  await alice.client.approve(id);
  await bob.client.approve(id);
  expect((await finished(alice, id)).state).toBe('SUCCEEDED');
});

test('a contract is called with exactly the calldata', async () => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [getAddress(recipient), 7n] });
  const before = await world.chain.tokenBalance(dollar, recipient);
  const done = await carriedOut('contract-interaction', { to: dollar, data, value: '0' });
  expect([done.state, done.failure]).toEqual(['SUCCEEDED', null]);
  expect(await world.chain.tokenBalance(dollar, recipient)).toBe(before + 7n);
});

test('an approved allowance is set on the token, and revoked again', async () => {
  const spender = await world.chain.account(8);
  const given = await carriedOut('erc20-approve', { tokenAddress: dollar, spender, amount: '25' });
  expect([given.state, await world.chain.allowance(dollar, vault.address, spender)]).toEqual(['SUCCEEDED', 25n]);
  const taken = await carriedOut('erc20-approve', { tokenAddress: dollar, spender, amount: '0' });
  expect([taken.state, await world.chain.allowance(dollar, vault.address, spender)]).toEqual(['SUCCEEDED', 0n]);
});

test('a token that requires its allowance at zero first is refused before any signer has to approve', async () => {
  const token = await world.chain.deploy('OddTokens.sol', 'ResettingToken');
  const approval = { tokenAddress: token, spender: recipient, amount: '25' };
  expect((await carriedOut('erc20-approve', approval)).state).toBe('SUCCEEDED');
  const again = await create('erc20-approve', { ...approval, amount: '30' });
  expect([again.status, again.body.code]).toEqual([422, 'allowance-not-zero']);
  expect(again.body.detail).toContain('The allowance is 25.');
  expect((await create('erc20-approve', { ...approval, amount: '0' })).status).toBe(201);
});

test('signers see that a recipient is a contract, and nothing of the kind for a person or without an RPC node', async () => {
  const { bob } = world.people();
  const idOf = async (body: object) => {
    const created = await create('transfer', { amount: '1', tokenAddress: dollar, ...body });
    expect(created.status).toBe(201);
    return created.body.id;
  };
  const seen = async (txId: string) => {
    const simulated = await unwrap(bob.client.api.transaction[':txId'].simulation.$get({ param: { txId } }));
    return [simulated.outcome, simulated.warnings.map(({ code }) => code)];
  };
  const toContract = await idOf({ to: dollar, recipientIsToken: true });
  expect(await seen(toContract)).toEqual(['succeeds', ['recipient-is-contract']]);
  expect(await seen(await idOf({ to: recipient }))).toEqual(['succeeds', []]);
  world.gate.close(500);
  try {
    expect(await seen(toContract)).toEqual(['unknown', []]);
  } finally {
    world.gate.close(null);
  }
});

test('a call that the chain would refuse is refused at once with the reason of the chain, and nothing is stored', async () => {
  const { alice } = world.people();
  const list = () => alice.client.transactions(vault.id);
  const before = await list();
  const blocking = await world.chain.deploy('OddTokens.sol', 'BlockingToken');
  const selector = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [getAddress(recipient), 1n] });
  const tries = [
    await create('transfer', { to: recipient, amount: (10n ** 24n).toString() }),
    await create('transfer', { to: recipient, amount: '1001', tokenAddress: dollar }),
    await create('transfer', { to: recipient, amount: '1', tokenAddress: blocking }),
    await create('transfer', { to: recipient, amount: '1', tokenAddress: await world.chain.account(8) }),
    await create('contract-interaction', { to: blocking, data: selector, value: '0' }),
    await create('contract-interaction', { to: recipient, data: selector, value: '0' }),
    await create('erc20-approve', { tokenAddress: recipient, spender: recipient, amount: '1' }),
  ];
  expect(tries.map(({ status, body }) => [status, body.code])).toEqual([
    [422, 'insufficient-funds'],
    [422, 'insufficient-funds'],
    [422, 'would-revert'],
    [422, 'would-revert'],
    [422, 'would-revert'],
    [422, 'would-revert'],
    [422, 'would-revert'],
  ]);
  expect([tries[2]?.body.detail, tries[4]?.body.detail]).toEqual([
    'this address is blocked',
    'this address is blocked',
  ]);
  expect(await list()).toEqual(before);
});

test('no transaction is created while the chain is unreachable, and the response states that a retry is safe', async () => {
  const { alice } = world.people();
  const list = () => alice.client.transactions(vault.id);
  const before = await list();
  world.gate.close(500);
  const answer = await create('transfer', { to: recipient, amount: '1' });
  world.gate.close(null);
  expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([503, 'chain-unavailable', '5']);
  expect(await list()).toEqual(before);
});

test('an Idempotency-Key returns its transaction although the wallet could not pay for it again', async () => {
  const { alice } = world.people();
  const poor = await world.vault('poor');
  const body = { vaultId: poor.id, chain: 'anvil', to: recipient, amount: (10n ** 18n / 2n).toString() };
  const first = await alice.client.transfer(body, 'payout-1');
  await carriedOutIn(first);
  world.gate.close(500);
  const again = await alice.client.transfer(body, 'payout-1');
  world.gate.close(null);
  expect(again.id).toBe(first.id);
  expect((await alice.client.request('POST', '/transaction/transfer', { body })).status).toBe(422);
});

async function carriedOutIn({ id }: TransactionRecord): Promise<void> {
  const { alice, bob } = world.people();
  await alice.client.approve(id);
  await bob.client.approve(id);
  expect((await finished(alice, id)).state).toBe('SUCCEEDED');
}

test('an estimate is the maximum that the transfer then costs', async () => {
  const { alice } = world.people();
  for (const tokenAddress of [null, dollar]) {
    const body = { vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1', tokenAddress };
    const estimate = await unwrap(alice.client.api.transaction['estimate-fee'].$post({ json: body }));
    const done = await carriedOut('transfer', body);
    expect(estimate.feeAsset.symbol).toBe('ETH');
    expect(BigInt(done.feePaid ?? '0')).toBeGreaterThan(0n);
    expect(BigInt(done.feePaid ?? '0')).toBeLessThanOrEqual(BigInt(estimate.normal.maxFee));
  }
});
