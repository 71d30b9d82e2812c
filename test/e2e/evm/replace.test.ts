import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import type { Person, ReadyVault } from '#local/stack/provision.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld, taken } from '../world.ts';

/** Covers a transaction that is not mined, and that a member speeds up at the same nonce. */

let world: World;
let vault: ReadyVault;
let recipient: string;

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  recipient = await world.chain.account(7);
});
afterAll(() => world.end());

const miner = () => anvilClient(world.chainUrl);

async function waiting(): Promise<string> {
  const { alice, bob } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000' });
  await alice.client.approve(id);
  await bob.client.approve(id);
  await reaches(alice, id, (record) => record.attempts[0]?.outcome === 'accepted');
  return id;
}

/**
 * Calls `response`, which requests a further attempt. Holds the broadcast of that attempt until the
 * first attempt is mined.
 */
async function minedBeforeTheNext(response: () => Promise<unknown>): Promise<void> {
  const held = world.gate.hold('eth_sendRawTransaction');
  await response();
  const call = await held;
  await miner().mine({ blocks: 1 });
  await call.deliver();
  await miner().setAutomine(true);
}

const speedUp = ({ client }: Person, id: string) =>
  client.request<TransactionRecord>('POST', `/transaction/${id}/speed-up`);

test('an unmined transaction is sped up at the same nonce, and exactly one of the two arrives', async () => {
  const { alice, victor } = { ...world.people(), victor: world.people().mallory };
  const before = await world.chain.balance(recipient);
  await miner().setAutomine(false);
  const id = await waiting();
  expect((await speedUp(victor, id)).status).toBe(403);
  const response = await speedUp(alice, id);
  expect([response.status, response.body.stateReason]).toEqual([200, 'REPRICING']);
  const faster = (record: TransactionRecord) => record.attempts[1]?.outcome === 'accepted';
  const replaced = await reaches(alice, id, faster);
  const [first, second] = replaced.attempts;
  expect([replaced.state, first?.nonce === second?.nonce, first?.hash === second?.hash]).toEqual([
    'BROADCAST',
    true,
    false,
  ]);
  expect(replaced.txHash).toBe(second?.hash);
  await miner().mine({ blocks: 1 });
  await miner().setAutomine(true);
  const done = await finished(alice, id);
  expect([done.state, done.txHash]).toEqual(['SUCCEEDED', second?.hash]);
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
});

test('a transaction is offered at its requested speed, and a slow one can be sped up later', async () => {
  const { alice, bob } = world.people();
  await miner().setAutomine(false);
  const fees: bigint[] = [];
  let slow = '';
  for (const speed of ['slow', 'fast'] as const) {
    const body = { vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000', speed };
    const { id } = await alice.client.transfer(body);
    for (const { client } of [alice, bob]) await client.approve(id);
    const { attempts } = await taken(alice, id);
    fees.push(BigInt(attempts[0]?.maxFee ?? '0'));
    if (speed === 'slow') slow = id;
  }
  expect((fees[0] ?? 0n) < (fees[1] ?? 0n)).toBe(true);
  await speedUp(alice, slow);
  const hurried = await reaches(alice, slow, ({ attempts }) => attempts[1]?.outcome === 'accepted');
  expect(BigInt(hurried.attempts[1]?.maxFee ?? '0') > (fees[0] ?? 0n)).toBe(true);
  await miner().mine({ blocks: 1 });
  await miner().setAutomine(true);
  expect((await finished(alice, slow)).state).toBe('SUCCEEDED');
});

test('an earlier attempt that is mined after a speed-up request gives the transaction its result', async () => {
  const { alice } = world.people();
  const before = await world.chain.balance(recipient);
  await miner().setAutomine(false);
  const id = await waiting();
  await minedBeforeTheNext(() => speedUp(alice, id));
  const done = await finished(alice, id);
  expect([done.state, done.txHash]).toEqual(['SUCCEEDED', done.attempts[0]?.hash]);
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
});

test('the attempt in flight is watched until it is mined if a faster one would exceed the approved fee', async () => {
  const { alice } = world.people();
  await miner().setAutomine(false);
  const id = await waiting();
  await miner().setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 15n });
  await miner().mine({ blocks: 1 });
  await speedUp(alice, id);
  const given = await reaches(alice, id, ({ stateReason }) => stateReason === 'FEE_CAP_EXCEEDED');
  expect([given.state, given.attempts.length]).toEqual(['BROADCAST', 1]);
  await miner().setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n });
  await miner().mine({ blocks: 1 });
  await miner().setAutomine(true);
  expect((await finished(alice, id)).state).toBe('SUCCEEDED');
});

const cancel = ({ client }: Person, id: string) =>
  client.request<TransactionRecord>('POST', `/transaction/${id}/cancel`);

test('an unmined transaction is cancelled at its nonce: nothing arrives, and the next one goes through', async () => {
  const { alice, carol, mallory } = world.people();
  const before = await world.chain.balance(recipient);
  await miner().setAutomine(false);
  const id = await waiting();
  expect((await cancel(mallory, id)).status).toBe(403);
  // Any signer may cancel a transaction in flight.
  const response = await cancel(carol, id);
  expect([response.status, response.body.state, response.body.stateReason]).toEqual([200, 'BROADCAST', 'CANCELLING']);
  const second = (record: TransactionRecord) => record.attempts[1]?.outcome === 'accepted';
  const out = await reaches(alice, id, second);
  expect(out.attempts.map(({ purpose }) => purpose)).toEqual(['intent', 'cancellation']);
  expect(out.attempts[0]?.nonce).toBe(out.attempts[1]?.nonce);
  await miner().mine({ blocks: 1 });
  await miner().setAutomine(true);
  const done = await finished(alice, id);
  expect([done.state, done.stateReason, done.txHash]).toEqual([
    'CANCELLED',
    'CANCELLED_ON_CHAIN',
    out.attempts[1]?.hash,
  ]);
  expect(BigInt(done.feePaid ?? '0')).toBeGreaterThan(0n);
  expect(await world.chain.balance(recipient)).toBe(before);
  expect((await cancel(alice, id)).status).toBe(200);
  const next = await waiting();
  expect((await finished(alice, next)).state).toBe('SUCCEEDED');
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
});

test('a cancellation that comes too late states so: the mined payment has arrived', async () => {
  const { alice } = world.people();
  const before = await world.chain.balance(recipient);
  await miner().setAutomine(false);
  const id = await waiting();
  await minedBeforeTheNext(() => cancel(alice, id));
  const done = await finished(alice, id);
  expect([done.state, done.txHash]).toEqual(['SUCCEEDED', done.attempts[0]?.hash]);
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
  expect((await cancel(alice, id)).status).toBe(409);
});

test('a finished transaction cannot be sped up', async () => {
  const { alice } = world.people();
  const id = await waiting();
  await finished(alice, id);
  const late = await speedUp(alice, id);
  expect([late.status, (late.body as unknown as { code: string }).code]).toEqual([409, 'transaction-not-broadcast']);
});
