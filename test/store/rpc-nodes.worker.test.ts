import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import type { RpcNodeState } from '#domain/operations/rpc-node.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { readFundedChains, readRpcNodes, replaceRpcNodes, storeFundedChains } from '#store/operations/rpc-nodes.ts';

const { DB } = env as unknown as CoordinatorEnv;

const node = (chain: string, position: number, fault: RpcNodeState['fault'] = null): RpcNodeState => ({
  chain,
  position,
  host: `${chain}-${position}.test`,
  checkedAtMs: 1,
  head: '100000000000000000000',
  lagBlocks: '0',
  otherChain: null,
  fault,
  error: null,
  traces: null,
  hasHistory: null,
});

test('a probe replaces the states of all nodes, and keeps their order', async () => {
  await replaceRpcNodes(DB, [node('base', 1), node('base', 0, 'behind'), node('anvil', 0)]);
  expect(await readRpcNodes(DB)).toEqual([node('anvil', 0), node('base', 0, 'behind'), node('base', 1)]);
  await replaceRpcNodes(DB, [node('base', 0)]);
  expect(await readRpcNodes(DB)).toEqual([node('base', 0)]);
  await replaceRpcNodes(DB, []);
  expect(await readRpcNodes(DB)).toEqual([]);
});

test('a chain counts as funded while the sweep sees money on it, however many chains there are', async () => {
  const many = Array.from({ length: 120 }, (_, i) => `chain-${String(i).padStart(3, '0')}`);
  await storeFundedChains(DB, [], 0);
  await storeFundedChains(DB, many, 0);
  expect(await readFundedChains(DB, 130 * 60_000)).toEqual(many);
  await storeFundedChains(DB, ['chain-007'], 60_000);
  expect(await readFundedChains(DB, 131 * 60_000)).toEqual(['chain-007']);
});
