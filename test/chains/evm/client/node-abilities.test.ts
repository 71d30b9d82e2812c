import { expect, test } from 'vitest';
import { nodeAbilities } from '#chains/evm/client/node-abilities.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import { readAnswer } from '#chains/rpc/json-rpc.ts';
import { accepted, refused } from '#domain/result.ts';

/** Covers what is read of an RPC node besides what payments need. */

const HASH = `0x${'1'.repeat(64)}`;
const TRANSACTION = `0x${'2'.repeat(64)}`;
const NUMBER = 5_000n;
const TRACE = { type: 'CALL', from: `0x${'3'.repeat(40)}`, to: `0x${'4'.repeat(40)}`, value: '0x0' };

/** The answers by method; null stands for no answer. */
function nodeOf(answers: Readonly<Record<string, object | null>>): RpcNode {
  const block = { result: { number: '0x1388', hash: HASH, baseFeePerGas: '0x1', transactions: [TRANSACTION] } };
  const all: typeof answers = {
    eth_getBlockByNumber: block,
    eth_getBalance: { result: '0x0' },
    debug_traceTransaction: { result: TRACE },
    ...answers,
  };
  return {
    host: 'node.test',
    request: async (call) => {
      const answer = all[call.method] ?? null;
      const fault: NodeFault = { kind: 'no-answer', detail: 'No response in time.' };
      const parsed = answer === null ? refused(fault) : readAnswer(answer, []);
      if (!parsed.ok) return parsed;
      const value = call.read(parsed.value);
      return value === undefined ? refused(fault) : accepted(value);
    },
  };
}

const refusing = (code: number, message: string) => ({ error: { code, message } });

test.each<[string, Parameters<typeof nodeOf>[0], object]>([
  ['an archive node with debug methods', {}, { traces: true, hasHistory: true }],
  [
    'a node without debug methods',
    { debug_traceTransaction: refusing(-32601, 'the method debug_traceTransaction does not exist/is not available') },
    { traces: false, hasHistory: true },
  ],
  [
    'a node that has pruned old states',
    { eth_getBalance: refusing(-32000, 'missing trie node') },
    { traces: true, hasHistory: false },
  ],
  [
    'a node that gives no answer in time',
    { debug_traceTransaction: null, eth_getBalance: null },
    { traces: null, hasHistory: null },
  ],
  [
    'a node that limits requests',
    { eth_getBalance: refusing(429, 'too many requests') },
    { traces: true, hasHistory: null },
  ],
  [
    'a block without transactions',
    { eth_getBlockByNumber: { result: { number: '0x1388', hash: HASH, baseFeePerGas: '0x1', transactions: [] } } },
    { traces: null, hasHistory: true },
  ],
])('%s', async (_, answers, abilities) => {
  expect(await nodeAbilities(nodeOf(answers), { number: NUMBER, hash: HASH })).toEqual(abilities);
});

test('a chain that is too young for old states has none', async () => {
  const { hasHistory } = await nodeAbilities(nodeOf({}), { number: 999n, hash: HASH });
  expect(hasHistory).toBeNull();
});
