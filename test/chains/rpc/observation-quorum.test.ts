import { expect, test } from 'vitest';
import { observeWithQuorum } from '#chains/rpc/observation-quorum.ts';
import type { Observation, WatchedAttempts } from '#chains/chain-adapter.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { noAnswer } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';
import { inclusion, OTHER_HASH } from '../../domain/cast.ts';
import { anvilChain } from '../evm/local-chain.ts';

/** What several RPC nodes say together. */

type Answer = Result<Observation, NodeProblem>;

const UNREACHABLE: Answer = noAnswer('no answer in time');
const BEHIND: Answer = unusable('the node is behind the recorded block');
const DENIES: Answer = refused({
  kind: 'unusable',
  detail: 'the node has the recorded block, but not the transaction',
  deniesInclusion: true,
});
const NOTHING = accepted<Observation>({ type: 'absent', inMempool: false, nonceTaken: false });
const WAITING = accepted<Observation>({ type: 'absent', inMempool: true, nonceTaken: false });
/** One node has it, and another one that could have it does not. */
const WITHHELD = accepted<Observation>({ type: 'absent', inMempool: true, nonceTaken: false, isWithheld: true });
const TAKEN = accepted<Observation>({ type: 'absent', inMempool: false, nonceTaken: true });
const LAPSED = accepted<Observation>({ type: 'lapsed' });
const UNEXPLAINED = accepted<Observation>({
  type: 'absent',
  inMempool: false,
  nonceTaken: false,
  isUnexplained: true,
});
const included = (differences: Partial<Inclusion> = {}) =>
  accepted<Observation>({ type: 'included', inclusion: inclusion({ confirmations: 3, ...differences }) });

/** Asks nodes that answer so, in this order. */
async function said(answers: readonly Answer[], before: Inclusion | null = null) {
  const requests: { readonly node: number; readonly seenBefore: Inclusion | null }[] = [];
  const nodes: readonly RpcNode[] = answers.map(() => ({ request: async () => noAnswer('nobody asks it here') }));
  const pool: NodePool = { nodes, nodeProblem: async () => null };
  const newest = { payload: '0x', validUntil: null };
  const watched: WatchedAttempts = { from: '0x', nonce: 0n, hashes: [], newest, parent: null, inclusion: before };
  const chain = anvilChain({ confirmations: 3 });
  const seen = await observeWithQuorum(pool, { chain, watched }, async (one, { inclusion: seenBefore }) => {
    const node = nodes.indexOf(one);
    requests.push({ node, seenBefore });
    return answers[node] ?? UNREACHABLE;
  });
  return { seen, requests };
}

const seenBy = async (...answers: readonly Answer[]) => (await said(answers)).seen;
const secondNodeOf = async (...answers: readonly Answer[]) => {
  const seen = await seenBy(...answers);
  return seen.ok && seen.value.type === 'included' ? (seen.value.inclusion.secondNode ?? 'not asked') : seen;
};

test('a node that knows the hash prevents an end, wherever it stands in the list', async () => {
  for (const ends of [TAKEN, UNEXPLAINED, LAPSED, NOTHING, UNREACHABLE]) {
    for (const order of [
      [ends, WAITING],
      [WAITING, ends],
    ]) {
      expect(await seenBy(...order)).toEqual(ends === NOTHING ? WITHHELD : WAITING);
    }
    for (const order of [
      [ends, included()],
      [included(), ends],
    ]) {
      expect(await seenBy(...order)).toMatchObject({ value: { type: 'included' } });
    }
  }
});

test('a conflict, and that nothing can be included any more, come from every node that is configured or from none', async () => {
  for (const ends of [TAKEN, LAPSED]) {
    expect(await seenBy(ends)).toEqual(ends);
    expect(await seenBy(ends, ends)).toEqual(ends);
    expect(await seenBy(ends, ends, BEHIND)).not.toEqual(ends);
  }
  for (const other of [NOTHING, UNEXPLAINED, UNREACHABLE, LAPSED]) {
    expect(await seenBy(TAKEN, other)).toEqual(UNEXPLAINED);
    expect(await seenBy(other, TAKEN)).toEqual(UNEXPLAINED);
  }
  expect(await seenBy(LAPSED, NOTHING)).toEqual(NOTHING);
  expect(await seenBy(UNREACHABLE, UNREACHABLE)).toEqual({ ok: false, refusal: { detail: 'no answer in time' } });
  expect(await seenBy()).toMatchObject({ ok: false });
});

test('a second node is asked for an inclusion that is deep enough, by its block', async () => {
  const shallow = await said([included({ confirmations: 2 }), TAKEN]);
  expect([shallow.seen, shallow.requests.length]).toEqual([included({ confirmations: 2 }), 1]);
  const deep = await said([included(), included({ confirmations: 5 })]);
  expect(deep.seen).toEqual(included({ secondNode: 'agrees' }));
  expect(deep.requests).toEqual([
    { node: 0, seenBefore: null },
    { node: 1, seenBefore: inclusion({ confirmations: 3 }) },
  ]);
  expect(await secondNodeOf(included())).toBe('not asked');
});

test('a node that can not tell does not contradict, and one that has something else does', async () => {
  expect(await secondNodeOf(included(), UNREACHABLE)).toBe('away');
  expect(await secondNodeOf(UNREACHABLE, included(), BEHIND)).toBe('away');
  for (const other of [
    DENIES,
    NOTHING,
    WAITING,
    TAKEN,
    included({ blockHash: '0xb2' }),
    included({ hash: OTHER_HASH }),
    included({ succeeded: false }),
  ]) {
    expect(await secondNodeOf(included(), other)).toBe('disagrees');
    expect(await secondNodeOf(included(), other, included())).toBe('agrees');
  }
});

test('what a second node has confirmed is not asked for again in the same block', async () => {
  const before = inclusion({ confirmations: 3, secondNode: 'agrees' });
  const again = await said([included({ confirmations: 9 }), NOTHING], before);
  expect([again.seen, again.requests.length]).toEqual([included({ confirmations: 9, secondNode: 'agrees' }), 1]);
  const moved = await said([included({ blockHash: '0xb2' }), NOTHING], before);
  expect(moved.seen).toEqual(included({ blockHash: '0xb2', secondNode: 'disagrees' }));
  const alone = await said([included(), included()], inclusion({ confirmations: 3, secondNode: 'away' }));
  expect(alone.seen).toEqual(included({ secondNode: 'agrees' }));
});
