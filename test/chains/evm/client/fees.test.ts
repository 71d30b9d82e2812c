import fc from 'fast-check';
import { encodeAbiParameters, encodeFunctionData, parseAbi, toFunctionSelector } from 'viem';
import { expect, test } from 'vitest';
import { encodeBytes } from '#chains/evm/client/data-fee.ts';
import {
  feesFor,
  feeTiers,
  gasLimitFor,
  gasNeeded,
  intrinsicGas,
  median,
  replacementFees,
  tipNeeded,
  withMinTip,
} from '#chains/evm/client/fees.ts';
import { callOf } from '#chains/evm/rules/call.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import { BOB, DOLLAR, present, TOKEN } from '../cast.ts';

function rowOf(name: string): Chain {
  return present(findChain(chainsFrom({}), name));
}
const ETHEREUM = rowOf('ethereum');

const wei = fc.bigInt({ min: 0n, max: 10n ** 15n });

test('the maximum fee is twice the base fee plus the tip', () => {
  const fees = feesFor(ETHEREUM, 30_000_000_000n, 1_500_000_000n);
  expect(fees).toEqual({ maxFeePerGas: 61_500_000_000n, maxPriorityFeePerGas: 1_500_000_000n });
});

test.each([
  ['no suggestion', 'ethereum', null, 1_000_000n],
  ['a suggestion of nothing', 'anvil', 0n, 1_000_000n],
  ['a low suggestion on polygon', 'polygon', 1_000_000_000n, 25_000_000_000n],
  ['a low suggestion on bsc', 'bsc', 1n, 50_000_000n],
  ['a good suggestion on bsc', 'bsc', 100_000_000n, 100_000_000n],
])('the tip with %s is at least the minimum of the chain', (_name, name, suggestion, tip) => {
  expect(feesFor(rowOf(name), 7n, suggestion)).toEqual({ maxFeePerGas: 14n + tip, maxPriorityFeePerGas: tip });
});

const GWEI = 1_000_000_000n;

/** Returns the tips of the three speeds on a chain. */
function tipsOf(name: string, tips: Parameters<typeof feeTiers>[2]): readonly bigint[] {
  const { slow, normal, fast } = feeTiers(rowOf(name), GWEI, tips);
  return [slow, normal, fast].map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas);
}

test.each<[string, string, Parameters<typeof feeTiers>[2], readonly bigint[]]>([
  [
    'a suggestion of 2,000 times the history',
    'ethereum',
    { suggested: 2_000n * GWEI, low: GWEI, high: GWEI },
    [GWEI, 3n * GWEI, (9n * GWEI) / 2n],
  ],
  [
    'a suggestion of three times the history',
    'ethereum',
    { suggested: 3n * GWEI, low: GWEI, high: GWEI },
    [GWEI, 3n * GWEI, (9n * GWEI) / 2n],
  ],
  [
    'a suggestion below the history',
    'ethereum',
    { suggested: GWEI, low: 2n * GWEI, high: 5n * GWEI },
    [GWEI, GWEI, 5n * GWEI],
  ],
  [
    'a history without tips',
    'ethereum',
    { suggested: GWEI, low: 0n, high: null },
    [1_000_000n, GWEI, (3n * GWEI) / 2n],
  ],
  ['a history of one wei', 'ethereum', { suggested: GWEI, low: 1n, high: 1n }, [1_000_000n, 1_000_000n, 1_500_000n]],
  [
    'a history below the minimum of Polygon',
    'polygon',
    { suggested: 30n * GWEI, low: 1n, high: GWEI },
    [25n * GWEI, 25n * GWEI, (75n * GWEI) / 2n],
  ],
  [
    'a history below the minimum of BSC',
    'bsc',
    { suggested: GWEI, low: 0n, high: 1n },
    [50_000_000n, 50_000_000n, 75_000_000n],
  ],
])('the tips of the three speeds stay near what recent blocks were paid: %s', (_name, chain, tips, expected) => {
  expect(tipsOf(chain, tips)).toEqual(expected);
});

test('a suggestion never raises a tip above three times the history or the minimum, and the speeds stay ordered', () => {
  const tip = fc.option(wei);
  fc.assert(
    fc.property(tip, tip, tip, (suggested, low, high) => {
      const [slow = 0n, normal = 0n, fast = 0n] = tipsOf('ethereum', { suggested, low, high });
      expect(slow).toBeGreaterThanOrEqual(1_000_000n);
      expect(normal).toBeGreaterThanOrEqual(slow);
      expect(fast).toBeGreaterThan(normal);
      const bound = high === null ? (suggested ?? 0n) : 3n * high;
      expect(normal).toBeLessThanOrEqual(bound > 1_000_000n ? bound : 1_000_000n);
    }),
  );
});

test('the tip never exceeds the maximum fee, which suffices after five full blocks', () => {
  fc.assert(
    fc.property(wei, wei, (base, tip) => {
      const fees = feesFor(ETHEREUM, base, tip);
      expect(fees.maxPriorityFeePerGas).toBeLessThanOrEqual(fees.maxFeePerGas);
      let later = base;
      for (let block = 0; block < 5; block++) later += later / 8n;
      expect(fees.maxFeePerGas).toBeGreaterThanOrEqual(later + fees.maxPriorityFeePerGas - tip);
    }),
  );
});

test.each([
  [0n, 1n],
  [1n, 3n],
  [7n, 9n],
  [8n, 10n],
  [1_000n, 1_126n],
  [1_000_000_007n, 1_125_000_009n],
])('a replacement of %i offers at least %i', (old, raised) => {
  const low = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  expect(replacementFees(low, { maxFeePerGas: old, maxPriorityFeePerGas: old })).toEqual({
    maxFeePerGas: raised,
    maxPriorityFeePerGas: raised,
  });
});

test('both prices of a replacement rise by a tenth or more, and never fall below the current ones', () => {
  fc.assert(
    fc.property(wei, wei, wei, wei, (base, tip, oldBase, oldTip) => {
      const [fresh, old] = [feesFor(ETHEREUM, base, tip), feesFor(ETHEREUM, oldBase, oldTip)];
      const next = replacementFees(fresh, old);
      for (const price of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        expect(next[price] * 10n).toBeGreaterThanOrEqual(old[price] * 11n);
        expect(next[price]).toBeGreaterThanOrEqual(fresh[price]);
      }
      expect(next.maxPriorityFeePerGas).toBeLessThanOrEqual(next.maxFeePerGas);
    }),
  );
});

test('the gas limit has a margin of a quarter, rounded up, and a plain payment has none', () => {
  expect(gasLimitFor(21_000n)).toBe(21_000n);
  expect(gasLimitFor(21_001n)).toBe(26_252n);
  expect(gasLimitFor(52_000n)).toBe(65_000n);
});

test("the margin does not exceed Ethereum's gas limit per transaction if the estimate is below it", () => {
  expect(gasLimitFor(14_061_003n)).toBe(2n ** 24n);
  expect(gasLimitFor(13_421_772n)).toBe(16_777_215n);
  expect(gasLimitFor(2n ** 24n)).toBe(2n ** 24n);
  // A chain whose estimate is higher has no such limit, or refuses the call before it is signed.
  expect(gasLimitFor(20_000_000n)).toBe(20_000_000n);
});

test('a list without tips has no median', () => {
  expect(median([])).toBeNull();
  expect(median([5n])).toBe(5n);
  expect(median([30n, 1n, 2n])).toBe(2n);
  expect(median([4n, 1n, 2n, 3n])).toBe(3n);
});

test('hand-written calldata equals that of the ABI coder', () => {
  const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.uint8Array({ maxLength: 200 }), (units, content) => {
      const data = encodeFunctionData({ abi, functionName: 'transfer', args: [BOB, units] });
      expect(callOf({ ...TOKEN, amount: amountOf(units) })).toEqual({ to: DOLLAR, value: 0n, data });
      const bytes = `0x${Buffer.from(content).toString('hex')}` as const;
      expect(`0x${encodeBytes(bytes)}`).toBe(encodeAbiParameters([{ type: 'bytes' }], [bytes]));
    }),
  );
  expect(toFunctionSelector('getL1Fee(bytes)')).toBe('0x49948e0e');
  expect(toFunctionSelector('balanceOf(address)')).toBe('0x70a08231');
});

function refusedWith(answer: string | null, outcome: 'underpriced' | 'refused' = 'underpriced'): Attempt['sent'] {
  return { outcome, answer, atMs: 0, times: 1 };
}

test.each<[string, Attempt['sent'], bigint | null]>([
  ['geth', refusedWith('transaction underpriced: gas tip cap 1, minimum needed 25000000000'), 25_000_000_000n],
  ['bor', refusedWith('transaction underpriced: tip needed 25000000000, tip permitted 1'), 25_000_000_000n],
  ['another spelling', refusedWith('Transaction Underpriced: Gas Tip Cap 0, minimum needed 1'), 1n],
  ['no number', refusedWith('replacement transaction underpriced'), null],
  ['the gas of a call', refusedWith('intrinsic gas too low: gas 20000, minimum needed 21000'), null],
  ['a number that no price has', refusedWith(`gas tip cap 1, minimum needed ${'9'.repeat(31)}`), null],
  ['a permanent refusal', refusedWith('gas tip cap 1, minimum needed 5', 'refused'), null],
  ['no words', refusedWith(null), null],
  ['nothing sent', null, null],
])('the tip that an RPC node requires is read from its answer: %s', (_name, sent, needed) => {
  expect(tipNeeded(sent)).toBe(needed);
});

test('a required tip is added to the offer for the base fee, and never lowers the offer', () => {
  const fees = { maxFeePerGas: 20n, maxPriorityFeePerGas: 3n };
  expect(withMinTip(fees, 10n)).toEqual({ maxFeePerGas: 27n, maxPriorityFeePerGas: 10n });
  expect(withMinTip(fees, 2n)).toEqual(fees);
  expect(withMinTip(fees, null)).toEqual(fees);
});

const HERE = '0x00000000000000000000000000000000000000aA';
const THERE = '0x00000000000000000000000000000000000000bB';
const paying = { to: THERE, value: 1n, data: '0x' } as const;
const nothing = { to: HERE, value: 0n, data: '0x' } as const;

test('the gas of a call is the larger of two estimates, and one of three that is far too high has no effect', () => {
  expect(gasNeeded(HERE, paying, [50_000n])).toBe(50_000n);
  expect(gasNeeded(HERE, paying, [40_000n, 50_000n])).toBe(50_000n);
  expect(gasNeeded(HERE, paying, [50_000n, 40_000n])).toBe(50_000n);
  expect(gasNeeded(HERE, paying, [9_000_000n, 50_000n, 50_000n])).toBe(50_000n);
  expect(gasNeeded(HERE, paying, [30_000n, 50_000n, 50_000n])).toBe(50_000n);
});

test('no call has less gas than its bytes take', () => {
  expect(gasNeeded(HERE, paying, [10_000n])).toBe(21_000n);
  // EIP-7623: ten gas for each zero byte, and forty for each other one.
  expect(intrinsicGas('0x')).toBe(21_000n);
  expect(intrinsicGas('0x00ff')).toBe(21_050n);
  expect(gasNeeded(HERE, { ...paying, data: '0x00ff' }, [1n, 2n])).toBe(21_050n);
});

test('a cancellation takes 21,000, or what a chain that charges for bytes in gas requires', () => {
  for (const estimates of [[10_000n], [21_000n, 9_000_000n], [9_000_000n, 21_000n], [10_000n, 21_000n]]) {
    expect(gasNeeded(HERE, nothing, estimates)).toBe(21_000n);
  }
  expect(gasNeeded(HERE, nothing, [120_000n, 10_000n])).toBe(120_000n);
});
