import { expect, test } from 'vitest';
import type { Observation } from '#chains/observation.ts';
import { noAnswer } from '#chains/rpc/json-rpc.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { unshown, unusable } from '#chains/rpc/node-pool.ts';
import { observeWithQuorum } from '#chains/rpc/observation-quorum.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { inclusion } from '../../domain/cast.ts';
import { anvilChain } from '../evm/local-chain.ts';

/** Covers what an operator learns of each RPC node while they do not state the same. */

type Answer = Result<Observation, NodeProblem>;

const absent = { type: 'absent', inMempool: false, nonceTaken: false } as const;
const NOTHING = accepted<Observation>(absent);
const USED = accepted<Observation>({ ...absent, isUnexplained: true });
const SILENT: Answer = noAnswer('No response in time.');
const UNSHOWN: Answer = unshown('The RPC node has a receipt without its transaction.');
const BEHIND: Answer = unusable('The RPC node is behind the recorded block.');
const DENIES: Answer = refused({ kind: 'unusable', detail: 'no such transaction', deniesInclusion: 'block' });
const INCLUDED = accepted<Observation>({ type: 'included', inclusion: inclusion({ confirmations: 3 }) });
const REVERTED = accepted<Observation>({ type: 'included', inclusion: inclusion({ succeeded: false }) });

test.each<[string, readonly Answer[], readonly string[] | undefined]>([
  ['another result', [INCLUDED, REVERTED], ['included', 'included-elsewhere']],
  ['an absence', [INCLUDED, NOTHING], ['included', 'not-included']],
  ['a denial', [DENIES, INCLUDED], ['not-included', 'included']],
  ['no answer', [INCLUDED, SILENT], ['included', 'nothing']],
  ['a node that is behind', [INCLUDED, BEHIND], ['included', 'nothing']],
  ['a used nonce', [USED, NOTHING], ['nonce-used', 'not-included']],
  ['an inclusion that is not shown', [UNSHOWN, NOTHING], ['included-unshown', 'not-included']],
  ['two that state it', [INCLUDED, INCLUDED, NOTHING], undefined],
  ['one configured node', [INCLUDED], undefined],
  ['nothing to compare', [NOTHING, SILENT], undefined],
])('%s', async (_name, answers, states) => {
  const nodes = answers.map((_, i) => ({ host: `node-${i}.test`, request: async () => noAnswer('unused') }));
  const pool: NodePool = { nodes, nodeProblem: async () => null };
  const newest = { payload: '0x', validUntil: null };
  const watched = { from: '0x', nonce: 0n, hashes: [], newest, inclusion: null };
  const watch = { chain: anvilChain({ confirmations: 3 }), watched };
  const seen = await observeWithQuorum(pool, watch, async ({ host }) => {
    return answers[nodes.findIndex((node) => node.host === host)] ?? SILENT;
  });
  const { statements } = seen.ok && seen.value.type !== 'lapsed' ? seen.value : {};
  expect(statements?.map((one) => one.states)).toEqual(states);
  expect(statements?.map(({ host }) => host)).toEqual(states === undefined ? undefined : nodes.map(({ host }) => host));
});
