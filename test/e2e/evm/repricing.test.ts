import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import { gethPool } from './geth-pool.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld, taken } from '../world.ts';

/**
 * Covers a base fee that rises above the price of a waiting payment in geth's mempool: the service
 * raises the price itself, up to the approved cap.
 */

let world: World;
let recipient: string;

const GWEI = 10n ** 9n;

beforeAll(async () => {
  world = await startWorld();
  recipient = await world.chain.account(7);
});
afterEach(async () => {
  world.gate.falsify(null);
  await miner().setAutomine(true);
});
afterAll(() => world.end());

const miner = () => anvilClient(world.chainUrl);
const payment = (vaultId: number) => world.approved({ vaultId, chain: 'anvil', to: recipient, amount: '1000' });

async function dearBlocks(baseFeePerGas: bigint, blocks: number): Promise<void> {
  await miner().setNextBlockBaseFeePerGas({ baseFeePerGas });
  await miner().mine({ blocks });
}

const second = ({ attempts }: TransactionRecord) => attempts[1]?.outcome === 'accepted';

test('the service raises a payment that the base fee has outgrown at its nonce, and it arrives once', async () => {
  const { alice } = world.people();
  const vault = await world.vault('outgrown');
  const before = await world.chain.balance(recipient);
  await miner().setAutomine(false);
  world.gate.falsify(gethPool(world.chainUrl, { keepsBelowBaseFee: true, coversQueue: true, capsGas: true }));
  const id = await payment(vault.id);
  await taken(alice, id);
  const above = await payment(vault.id);
  await taken(alice, above);
  await dearBlocks(40n * GWEI, 6);
  const raised = await reaches(alice, id, second);
  expect(raised.attempts.map(({ nonce, outcome, purpose }) => [nonce, outcome, purpose])).toEqual([
    ['0', 'underpriced', 'intent'],
    ['0', 'accepted', 'intent'],
  ]);
  expect(BigInt(raised.attempts[1]?.maxFee ?? '0')).toBeLessThanOrEqual(BigInt(raised.maxFee ?? '0'));
  await reaches(alice, above, second);
  await miner().setAutomine(true);
  await miner().mine({ blocks: 1 });
  const done = [await finished(alice, id), await finished(alice, above)];
  expect(done.map(({ state, txHash, attempts }) => [state, txHash === attempts[1]?.hash])).toEqual([
    ['SUCCEEDED', true],
    ['SUCCEEDED', true],
  ]);
  expect(await world.chain.balance(recipient)).toBe(before + 2000n);
});

test('a payment whose approved cap does not suffice waits, states why, and goes through when the base fee falls', async () => {
  const { alice } = world.people();
  const vault = await world.vault('above the cap');
  const before = await world.chain.balance(recipient);
  await miner().setAutomine(false);
  world.gate.falsify(gethPool(world.chainUrl, { keepsBelowBaseFee: true }));
  const id = await payment(vault.id);
  await taken(alice, id);
  await dearBlocks(10n ** 15n, 6);
  const waiting = await reaches(alice, id, ({ stateReason }) => stateReason === 'FEE_ABOVE_CAP');
  expect([waiting.state, waiting.attempts.length]).toEqual(['BROADCAST', 1]);
  await dearBlocks(GWEI, 1);
  await reaches(alice, id, ({ stateReason }) => stateReason === null);
  await miner().mine({ blocks: 1 });
  // A poll that saw the high base fee may price after the fall, and then replaces the attempt.
  expect((await finished(alice, id)).state).toBe('SUCCEEDED');
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
});
