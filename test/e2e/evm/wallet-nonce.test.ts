import type { Hex } from 'viem';
import { parseTransaction } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld, taken } from '../world.ts';

/**
 * Covers an RPC node that reports a wrong nonce count, and a refused payment that blocks others:
 * the wallet pays again in both cases.
 */

let world: World;
let recipient: string;

beforeAll(async () => {
  world = await startWorld();
  recipient = await world.chain.account(7);
});
afterAll(() => world.end());

const miner = () => anvilClient(world.chainUrl);

/** Creates a transfer with its approvals. Returns its id. */
const payment = ({ id }: ReadyVault, amount = '1000') =>
  world.approved({ vaultId: id, chain: 'anvil', to: recipient, amount });

const nonceOf = (record: TransactionRecord) => record.attempts[0]?.nonce;

/** Makes the RPC node report `count` as the nonce count of this tag from now on. */
function falsifyCount(tag: string, count: string): void {
  world.gate.falsify((method, [, request]) =>
    method === 'eth_getTransactionCount' && request === tag ? { result: count } : undefined,
  );
}

/**
 * Refuses the payment at a nonce once `give` is called, as geth does when the balance does not
 * cover the payments that wait below it.
 */
function refusalOfNonce(nonce: number, from: string) {
  const [request, given] = [Promise.withResolvers<null>(), Promise.withResolvers<object>()];
  world.gate.falsify((method, [raw]) => {
    if (method !== 'eth_sendRawTransaction') return undefined;
    const sent = parseTransaction(raw as Hex);
    if (sent.nonce !== nonce || sent.to?.toLowerCase() === from.toLowerCase()) return undefined;
    request.resolve(null);
    return given.promise;
  });
  const message = 'insufficient funds for gas * price + value: balance 1, queued cost 2, tx cost 3, overshot 4';
  return { isAsked: request.promise, give: () => given.resolve({ error: { code: -32_000, message } }) };
}

test.each([
  ['pending', '0x3e8'],
  ['latest', '0x3e8'],
])('a wrong %s nonce count of one RPC node stops no payment once the node corrects it', async (tag, count) => {
  const { alice } = world.people();
  const vault = await world.vault(`wrong ${tag}`);
  falsifyCount(tag, count);
  const first = await payment(vault);
  const waiting = await reaches(alice, first, ({ stateReason }) => stateReason === 'NONCE_UNCONFIRMED');
  expect([waiting.state, waiting.attempts]).toEqual(['SIGNING', []]);
  world.gate.falsify(null);
  const second = await payment(vault);
  const done = [await finished(alice, first), await finished(alice, second)];
  expect(done.map(({ state }) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  expect(new Set(done.map(nonceOf))).toEqual(new Set(['0', '1']));
});

test('a payment waits for an unknown pending transaction, and its nonce has no gap when that one is dropped', async () => {
  const { alice } = world.people();
  const vault = await world.vault('dropped');
  await miner().setAutomine(false);
  const from = vault.address as `0x${string}`;
  await miner().impersonateAccount({ address: from });
  const foreign = await miner().sendUnsignedTransaction({ from, to: from, value: 0n });
  const id = await payment(vault);
  const waiting = await reaches(alice, id, ({ stateReason }) => stateReason === 'NONCE_UNCONFIRMED');
  expect(waiting.state).toBe('SIGNING');
  await miner().dropTransaction({ hash: foreign });
  await miner().setAutomine(true);
  const done = await finished(alice, id);
  expect([done.state, nonceOf(done)]).toEqual(['SUCCEEDED', '0']);
});

test('a payment that every RPC node refuses is cancelled at its nonce when others wait above it, and they are mined', async () => {
  const { alice } = world.people();
  const vault = await world.vault('refused below others');
  const before = await world.chain.balance(recipient);
  await miner().setAutomine(false);
  const first = await payment(vault);
  await taken(alice, first);
  const refusal = refusalOfNonce(1, vault.address);
  const refused = await payment(vault);
  await refusal.isAsked;
  const above = await payment(vault);
  await reaches(alice, above, ({ attempts }) => attempts.length > 0);
  refusal.give();
  await taken(alice, above);
  const filling = await reaches(alice, refused, ({ attempts }) => attempts[1]?.outcome === 'accepted');
  expect(filling.attempts.map(({ purpose, nonce }) => [purpose, nonce])).toEqual([
    ['intent', '1'],
    ['cancellation', '1'],
  ]);
  world.gate.falsify(null);
  await miner().setAutomine(true);
  await miner().mine({ blocks: 1 });
  const done = [await finished(alice, first), await finished(alice, refused), await finished(alice, above)];
  expect(done.map(({ state, stateReason }) => [state, stateReason])).toEqual([
    ['SUCCEEDED', null],
    ['FAILED', 'REJECTED_BY_NODE'],
    ['SUCCEEDED', null],
  ]);
  expect(await world.chain.balance(recipient)).toBe(before + 2000n);
});

test('a payment that waits behind another payment names that payment until it is mined', async () => {
  const { alice } = world.people();
  const vault = await world.vault('waits behind');
  await miner().setAutomine(false);
  const first = await payment(vault);
  await taken(alice, first);
  const second = await payment(vault);
  const waiting = await reaches(alice, second, ({ stateReason }) => stateReason === 'WAITS_FOR_NONCE');
  expect([waiting.state, waiting.waitsFor]).toEqual(['BROADCAST', first]);
  expect((await alice.client.read(first)).waitsFor).toBeNull();
  await miner().setAutomine(true);
  await miner().mine({ blocks: 1 });
  const done = await finished(alice, second);
  expect([done.state, done.stateReason, done.waitsFor]).toEqual(['SUCCEEDED', null, null]);
});

test('a nonce count that two RPC nodes report is accepted, and one that a single node reports is waited out', async () => {
  const pair = await startWorld({ hasSecondNode: true });
  try {
    const { alice } = pair.people();
    const vault = await pair.vault('two nodes');
    const chain = anvilClient(pair.chainUrl);
    const from = vault.address as Hex;
    await chain.impersonateAccount({ address: from });
    // As after a restore of an old backup, the wallet has sent a transaction that the service does
    // not know.
    await chain.sendUnsignedTransaction({ from, to: from, value: 0n });
    const pay = () => pair.approved({ vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000' });
    const first = await finished(alice, await pay());
    expect([first.state, nonceOf(first)]).toEqual(['SUCCEEDED', '1']);
    pair.gate.falsify((method, [, tag]) =>
      method === 'eth_getTransactionCount' && tag === 'pending' ? { result: '0x3e8' } : undefined,
    );
    const disputed = await pay();
    await reaches(alice, disputed, ({ stateReason }) => stateReason === 'NONCE_UNCONFIRMED');
    pair.gate.falsify(null);
    const second = await finished(alice, disputed);
    expect([second.state, nonceOf(second)]).toEqual(['SUCCEEDED', '2']);
  } finally {
    await pair.end();
  }
});
