import type { Address, Hex } from 'viem';
import { getAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Anvil } from '#local/evm/anvil.ts';
import { startAnvil } from '#local/evm/anvil.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { GethPool, PoolRules } from './geth-pool.ts';
import { gethPool } from './geth-pool.ts';

/** Covers the mempool rules of geth that a proxy adds to anvil, with the error texts of geth. */

let anvil: Anvil;
let from: Address;
let nonce = 0;

const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;
const miner = () => anvilClient(anvil.url);

beforeAll(async () => {
  anvil = await startAnvil();
  await miner().setAutomine(false);
});
beforeEach(async () => {
  const address = (await miner().getAddresses())[nonce++];
  from = getAddress(address ?? '0x');
  await miner().setBalance({ address: from, value: ETHER });
});
afterAll(() => anvil.stop());

interface Options {
  readonly nonce?: number;
  readonly value?: bigint;
  readonly gas?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
}

const signed = (options: Options): Promise<Hex> => {
  const fees = { gas: 21_000n, maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: GWEI };
  return miner().signTransaction({
    account: from,
    type: 'eip1559',
    to: from,
    nonce: 0,
    value: 0n,
    ...fees,
    ...options,
  });
};
const send = async (pool: GethPool, options: Options) => pool('eth_sendRawTransaction', [await signed(options)]);
const refusal = (message: unknown) => ({ error: { code: -32_000, message } });

test.each<[string, PoolRules, Options, string]>([
  ['gas', { capsGas: true }, { gas: 2n ** 24n + 1n }, 'transaction gas limit too high (cap: 16777216, tx: 16777217)'],
  [
    'a tip below the floor',
    { minTip: 25n * GWEI },
    {},
    'transaction underpriced: gas tip cap 1000000000, minimum needed 25000000000',
  ],
])('%s is refused in geth’s words, and accepted without the rule', async (_name, rules, options, words) => {
  expect(await send(gethPool(anvil.url, rules), options)).toEqual(refusal(words));
  expect(await send(gethPool(anvil.url, {}), options)).toBeUndefined();
});

test('the balance has to cover all waiting transactions of the account', async () => {
  const pool = gethPool(anvil.url, { coversQueue: true, keepsBelowBaseFee: true });
  const value = (6n * ETHER) / 10n;
  expect(await send(pool, { value })).toBeUndefined();
  expect(await send(pool, { nonce: 1, value })).toEqual(
    refusal(expect.stringMatching(/^insufficient funds for gas \* price \+ value: balance 1\d+, queued cost 6\d+/)),
  );
  expect(await send(pool, { nonce: 1, value: value / 6n })).toBeUndefined();
});

test('a bid below the base fee waits in the mempool, is replaced for 10 % more, and mined when the base fee falls', async () => {
  const pool = gethPool(anvil.url, { keepsBelowBaseFee: true });
  await miner().setNextBlockBaseFeePerGas({ baseFeePerGas: 100n * GWEI });
  await miner().mine({ blocks: 1 });
  const answer = await send(pool, {});
  const hash = answer !== undefined && 'result' in answer ? answer.result : null;
  expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
  expect(await pool('eth_getTransactionByHash', [hash])).toMatchObject({ result: { hash, blockHash: null } });
  expect(await pool('eth_getTransactionCount', [from, 'pending'])).toEqual({ result: '0x1' });
  expect(await send(pool, {})).toEqual(refusal('already known'));
  const cheap = { maxFeePerGas: 21n * GWEI, maxPriorityFeePerGas: 2n * GWEI };
  expect(await send(pool, cheap)).toEqual(refusal('replacement transaction underpriced'));
  const raised = await send(pool, { ...cheap, maxFeePerGas: 22n * GWEI });
  expect(raised).toEqual({ result: expect.stringMatching(/^0x/) });
  expect(await pool('eth_getTransactionByHash', [hash])).toBeUndefined();
  await miner().setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI });
  await miner().mine({ blocks: 1 });
  await pool('eth_blockNumber', []);
  await miner().mine({ blocks: 1 });
  expect(await miner().getTransactionCount({ address: from })).toBe(1);
});
