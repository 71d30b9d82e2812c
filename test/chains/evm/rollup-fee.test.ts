import fc from 'fast-check';
import type { Hex } from 'viem';
import { decodeFunctionData, parseAbi, size, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evmClient } from '#chains/evm/chain-client.ts';
import { evmRules } from '#chains/evm/rules/chain-rules.ts';
import { operatorFeeIn, operatorFeePaid } from '#chains/evm/client/operator-fee.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { FalseNode, Rule } from '../false-node.ts';
import { startFalseNode } from '../false-node.ts';
import { attemptFor, NATIVE, present } from './cast.ts';
import type { LocalChain } from './local-chain.ts';
import { anvilChain, startLocalChain } from './local-chain.ts';

/** Covers the fees of rollups besides gas, in the quote before and in the receipt after. */

let chain: LocalChain;
let rollup: FalseNode;

beforeAll(async () => {
  chain = await startLocalChain();
  rollup = await startFalseNode(chain.url);
});
afterAll(async () => {
  await rollup.stop();
  await chain.stop();
});

const ORACLE = '0x420000000000000000000000000000000000000f';
const SCROLL_ORACLE = '0x5300000000000000000000000000000000000002';
const abi = parseAbi(['function getL1Fee(bytes) view returns (uint256)', 'function getOperatorFee(uint256) view']);
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

interface Oracle {
  readonly l1Fee: bigint;
  readonly operator: Rule | ((gas: bigint) => Rule);
}

const requests: { to: string; name: string; argument: unknown }[] = [];

/** Starts an RPC node of a chain with a fee oracle. */
function withOracle({ l1Fee, operator }: Oracle): void {
  requests.length = 0;
  rollup.follow((method, [call]) => {
    const { to = '', data = '0x' } = (call ?? {}) as { to?: string; data?: Hex };
    const isOracle = method === 'eth_call' && [ORACLE, SCROLL_ORACLE].includes(to.toLowerCase());
    if (!isOracle) return 'forward';
    const { functionName: name, args } = decodeFunctionData({ abi, data });
    requests.push({ to: to.toLowerCase(), name, argument: args[0] });
    if (name === 'getL1Fee') return { result: word(l1Fee) };
    return typeof operator === 'function' ? operator(args[0]) : operator;
  });
}

const REVERT: Rule = { error: { code: 3, message: 'execution reverted', data: '0x' } };

async function quoteOn(row: Partial<Chain>) {
  const client = evmClient(evmRules(anvilChain(row)), [rollup.url]);
  return client.quote({ ...NATIVE, from: chain.account(0) }, null);
}

async function dataFeeOn(row: Partial<Chain>): Promise<string> {
  const client = evmClient(evmRules(anvilChain(row)), [rollup.url]);
  const estimate = await client.estimate({ ...NATIVE, from: chain.account(0) });
  if (!estimate.ok) throw new Error(JSON.stringify(estimate.refusal));
  return estimate.value.dataFee;
}

test('the operator fee of an OP-stack chain is computed for the gas limit and added to the data fee, with a margin', async () => {
  withOracle({ l1Fee: 1000n, operator: (gas) => ({ result: word(gas * 2n + 8n) }) });
  expect(await dataFeeOn({ dataFee: 'op-stack' })).toBe(String(1250n + (42_008n * 5n) / 4n));
  expect(requests.find(({ name }) => name === 'getOperatorFee')).toEqual({
    to: ORACLE,
    name: 'getOperatorFee',
    argument: 21_000n,
  });
  // An operator fee above the approved cap is refused before signing.
  withOracle({ l1Fee: 1000n, operator: { result: word(10n ** 17n) } });
  expect(await quoteOn({ dataFee: 'op-stack' })).toMatchObject({ refusal: { reason: 'FEE_CAP_EXCEEDED' } });
});

test('an oracle before Isthmus has no operator fee, and a faulty RPC node is not taken for such an oracle', async () => {
  withOracle({ l1Fee: 1000n, operator: REVERT });
  expect(await dataFeeOn({ dataFee: 'op-stack' })).toBe('1250');
  for (const operator of [
    { result: '0x01' },
    { error: { code: -32_000, message: 'header not found' } },
    'cut',
  ] as const) {
    withOracle({ l1Fee: 1000n, operator });
    expect((await quoteOn({ dataFee: 'op-stack' })).ok).toBe(false);
  }
});

test('a chain whose row has no data fee is not called for it, and a chain whose row omits the field is checked', async () => {
  withOracle({ l1Fee: 1000n, operator: REVERT });
  expect([await dataFeeOn({ dataFee: 'none' }), requests.length]).toEqual(['0', 0]);
  expect(await dataFeeOn({})).toBe('1250');
  rollup.follow(() => 'forward');
  expect(await dataFeeOn({})).toBe('0');
  // anvil has no oracle contract, so it is not an RPC node of an OP-stack chain.
  expect(await quoteOn({ dataFee: 'op-stack' })).toMatchObject({ refusal: { kind: 'transient' } });
});

test('the oracle of Scroll is called with the signed size of the bytes, and has no operator fee', async () => {
  withOracle({ l1Fee: 400n, operator: { result: word(7n) } });
  expect(await dataFeeOn({ dataFee: 'scroll' })).toBe('500');
  const [scroll] = requests;
  expect(requests.map(({ to, name }) => [to, name])).toEqual([[SCROLL_ORACLE, 'getL1Fee']]);
  await dataFeeOn({ dataFee: 'op-stack' });
  const unsigned = requests.find(({ to }) => to === ORACLE);
  expect(size(scroll?.argument as Hex) - size(unsigned?.argument as Hex)).toBe(68);
});

test('the tip that linea_estimateGas returns is a floor on Linea, and is not requested on other chains', async () => {
  const tip = 77_000_000_000n;
  const answers: Rule[] = [];
  const linea = () =>
    rollup.follow((method) => {
      if (method !== 'linea_estimateGas') return 'forward';
      answers.push('forward');
      return { result: { gasLimit: '0x5208', baseFeePerGas: '0x7', priorityFeePerGas: `0x${tip.toString(16)}` } };
    });
  linea();
  const quote = await quoteOn({ gasEstimate: 'linea', dataFee: 'none' });
  expect(quote).toMatchObject({ ok: true, value: { maxPriorityFeePerGas: tip.toString(), gasLimit: '21000' } });
  const other = await quoteOn({ dataFee: 'none' });
  expect(other.ok && BigInt(present(other.value.maxPriorityFeePerGas)) < tip).toBe(true);
  expect(answers.length).toBe(1);
  // An RPC node without the method gives the same error to every call.
  rollup.follow(() => 'forward');
  expect((await quoteOn({ gasEstimate: 'linea', dataFee: 'none' })).ok).toBe(true);
});

test('an RPC node that states a minimum tip is offered that tip with the next attempt', async () => {
  rollup.follow(() => 'forward');
  const intent = { ...NATIVE, from: chain.account(0) };
  const client = evmClient(evmRules(anvilChain()), [rollup.url]);
  const refused = (needed: string) => ({
    ...attemptFor(intent),
    sent: {
      outcome: 'underpriced' as const,
      answer: `transaction underpriced: gas tip cap 1000000, minimum needed ${needed}`,
      atMs: 0,
      times: 1,
    },
  });
  expect(await client.quote(intent, refused('25000000000'))).toMatchObject({
    ok: true,
    value: { maxPriorityFeePerGas: '25000000000' },
  });
  // A stated minimum tip does not raise the fee above the approved cap.
  expect(await client.quote(intent, refused('9'.repeat(20)))).toMatchObject({
    refusal: { reason: 'FEE_CAP_EXCEEDED' },
  });
});

test('the operator fee is computed with the published formulas', () => {
  // Isthmus: gasUsed * scalar / 10^6 + constant. Jovian: gasUsed * scalar * 100 + constant.
  expect(operatorFeePaid(21_000n, { scalar: 1_500_000n, constant: 7n, isJovian: false })).toBe(31_507n);
  expect(operatorFeePaid(21_001n, { scalar: 1n, constant: 0n, isJovian: false })).toBe(0n);
  expect(operatorFeePaid(1_000_000n, { scalar: 1n, constant: 5n, isJovian: false })).toBe(6n);
  expect(operatorFeePaid(21_000n, { scalar: 3n, constant: 7n, isJovian: true })).toBe(6_300_007n);
  const uint = (bits: bigint) => fc.bigInt({ min: 0n, max: 2n ** bits - 1n });
  fc.assert(
    fc.property(uint(64n), uint(32n), uint(64n), (gas, scalar, constant) => {
      const [old, now] = [false, true].map((isJovian) => operatorFeePaid(gas, { scalar, constant, isJovian }));
      expect(((old ?? 0n) - constant) * 1_000_000n).toBeLessThanOrEqual(gas * scalar);
      expect(now).toBe(gas * scalar * 100n + constant);
    }),
  );
  expect(toFunctionSelector('getOperatorFee(uint256)')).toBe('0x275aedd2');
});

test('the receipt since Isthmus includes the operator fee, and an earlier receipt does not', () => {
  const isthmus = { operatorFeeScalar: '0x16e360', operatorFeeConstant: '0x7' };
  expect(operatorFeeIn(isthmus, 21_000n)).toBe(31_507n);
  expect(operatorFeeIn({ ...isthmus, daFootprintGasScalar: '0x190' }, 21_000n)).toBe(3_150_000_000_007n);
  expect(operatorFeeIn({ operatorFeeConstant: '0x7' }, 21_000n)).toBe(7n);
  expect(operatorFeeIn({}, 21_000n)).toBe(0n);
  expect(operatorFeeIn({ operatorFeeScalar: null, operatorFeeConstant: null }, 21_000n)).toBe(0n);
  expect(operatorFeeIn({ ...isthmus, operatorFeeScalar: 'much' }, 21_000n)).toBeNull();
});
