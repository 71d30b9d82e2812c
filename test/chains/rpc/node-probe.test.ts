import { expect, test } from 'vitest';
import { BLOCK_CALLS } from '#chains/evm/client/block-calls.ts';
import { evmNodePool } from '#chains/evm/client/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { noAnswer } from '#chains/rpc/json-rpc.ts';
import { probePool } from '#chains/rpc/node-probe.ts';
import { alertedLagBlocks } from '#domain/asset/chain.ts';
import { alertIdOf } from '#domain/operations/raised-alert.ts';
import { alertsOfRpcNodes, judgedNodes } from '#domain/operations/rpc-node.ts';
import { accepted } from '#domain/result.ts';
import { anvilChain } from '../evm/local-chain.ts';

/** Covers the probe of RPC nodes, and what its answers mean for each node. */

const ANVIL = anvilChain();
const CHAIN_ID = 31_337n;
const HEAD = 10_000n;
const LAG = alertedLagBlocks(ANVIL);
const hashOf = (number: bigint, version = 0) => `0x${version}${number.toString(16).padStart(63, '0')}`;

interface Answers {
  readonly head?: bigint;
  readonly chainId?: bigint;
  /** Another chain of blocks has another version. */
  readonly version?: number;
  /** How many calls in a row get no answer. */
  readonly lost?: number;
  readonly hasHistory?: boolean;
}

/** Returns a node that answers the calls of a probe, and its number of calls. */
function nodeOf(host: string, answers: Answers): RpcNode {
  const { head = HEAD, chainId = CHAIN_ID, version = 0, hasHistory = true } = answers;
  let { lost = 0 } = answers;
  return {
    host,
    request: async (call) => {
      const { method, params } = call;
      lost -= 1;
      if (lost >= 0) return noAnswer(`${method}: No response in time.`);
      const number = typeof params[0] === 'string' && params[0] !== 'latest' ? BigInt(params[0]) : head;
      const block = { number: `0x${number.toString(16)}`, hash: hashOf(number, version), baseFeePerGas: '0x1' };
      const answer = method === 'eth_chainId' ? `0x${chainId.toString(16)}` : block;
      const value = call.read(method !== 'eth_chainId' && !hasHistory && params[0] !== 'latest' ? null : answer);
      return value === undefined ? noAnswer('malformed') : accepted(value);
    },
  };
}

async function faultsOf(...all: readonly Answers[]): Promise<readonly (string | null)[]> {
  const { nodeProblem } = evmNodePool(CHAIN_ID, []);
  const nodes = all.map((answers, i) => nodeOf(`node-${i + 1}.test`, answers));
  const probes = await probePool({ nodes, nodeProblem }, ANVIL, BLOCK_CALLS);
  return judgedNodes(ANVIL, probes, 1).map(({ fault }) => fault);
}

test.each<[string, readonly Answers[], readonly (string | null)[]]>([
  ['healthy nodes', [{}, { head: HEAD - LAG }], [null, null]],
  ['one lost answer', [{ lost: 1 }, {}], [null, null]],
  ['a node that is away', [{ lost: 99 }, {}], ['unusable', null]],
  ['a node of another chain', [{}, { chainId: 1n }], [null, 'other-chain']],
  ['a node that is behind', [{}, { head: HEAD - LAG - 1n }], [null, 'behind']],
  ['nodes on two chains of blocks', [{}, { version: 1 }], ['differs', 'differs']],
  ['a node without the block', [{}, { hasHistory: false }], ['differs', 'differs']],
  ['one of three with an impossible number', [{ head: 2n ** 60n }, {}, {}], [null, null, null]],
  ['one of three that is behind', [{}, {}, { head: 1n }], [null, null, 'behind']],
  ['a young chain', [{ head: 3n }, { head: 3n, version: 1 }], [null, null]],
  ['one node alone', [{}], [null]],
  ['no node', [], []],
])('%s', async (_name, nodes, faults) => {
  expect(await faultsOf(...nodes)).toEqual(faults);
});

test('the state of a node has its numbers as text, and bounded texts of the node', async () => {
  const { nodeProblem } = evmNodePool(CHAIN_ID, []);
  const ill: RpcNode = { host: 'ill.test', request: async () => noAnswer('x'.repeat(5_000)) };
  const nodes = [nodeOf('well.test', { head: HEAD }), nodeOf('late.test', { head: HEAD - 3n }), ill];
  const states = judgedNodes(ANVIL, await probePool({ nodes, nodeProblem }, ANVIL, BLOCK_CALLS), 7);
  expect(states.map(({ head, lagBlocks, error }) => [head, lagBlocks, error?.length])).toEqual([
    ['10000', '0', undefined],
    ['9997', '3', undefined],
    [null, null, 200],
  ]);
  expect(states.map(({ chain, position, checkedAtMs }) => [chain, position, checkedAtMs])).toEqual([
    ['anvil', 0, 7],
    ['anvil', 1, 7],
    ['anvil', 2, 7],
  ]);
});

test('an alert names each node at fault, the chains with different blocks, and those with too few nodes', () => {
  const state = {
    position: 0,
    checkedAtMs: 1,
    head: null,
    lagBlocks: null,
    otherChain: null,
    error: 'no',
    traces: null,
    hasHistory: null,
  };
  const alerts = alertsOfRpcNodes({
    nodes: [
      { ...state, chain: 'base', host: 'one.test', fault: 'unusable' },
      { ...state, chain: 'base', host: 'two.test', fault: null },
      { ...state, chain: 'solana', host: 'three.test:8899', fault: 'unusable' },
      { ...state, chain: 'bitcoin', host: 'four.test', fault: 'other-chain' },
      ...['five.test', 'six.test'].map((host) => ({ ...state, chain: 'base', host, fault: 'differs' as const })),
    ],
    nodelessChains: ['anvil'],
    singleNodeChains: ['bitcoin', 'anvil'],
    fundedChains: ['base', 'bitcoin'],
  });
  expect(alerts.map((alert) => [alertIdOf(alert), alert.detail])).toEqual([
    ['rpc-node-away:base one.test', 'RPC node one.test of base gives no usable answer.'],
    ['rpc-node-away:solana three.test:8899', 'RPC node three.test:8899 of solana gives no usable answer.'],
    ['rpc-node-other-chain:bitcoin four.test', 'RPC node four.test of bitcoin serves another chain.'],
    [
      'rpc-nodes-differ:base',
      'RPC nodes of base state different blocks at one number, deep below the newest one: five.test, six.test.',
    ],
    ['chain-without-node:anvil', 'RPC_URLS has no RPC node of anvil, and vaults have wallets there.'],
    ['single-rpc-node:bitcoin', 'Vaults have money on bitcoin, and one RPC node decides alone.'],
  ]);
});
