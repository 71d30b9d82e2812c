import { expect, test } from 'vitest';
import { activityFromPool, transactionIn } from '#chains/rpc/activity-quorum.ts';
import { noAnswer } from '#chains/rpc/json-rpc.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { ReadTransaction } from '#chains/chain-client.ts';
import type { ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** Covers the combined reports of several RPC nodes on foreign payments. */

type Answer = Result<ReadTransaction | null, NodeProblem>;

const BLOCK: ActivityBlock = { number: '100', hash: '0xb1', confirmations: 9, isFinal: true };
const at = (block: Partial<ActivityBlock> | null = {}): ChainTransaction => ({
  hash: '0xaa',
  signer: '0x1',
  fee: null,
  block: block === null ? null : { ...BLOCK, ...block },
  movements: [],
});
const UNPROVEN = 'No two RPC nodes state the same block and contents of the transaction.';
const NOWHERE = accepted(null);
const UNREACHABLE: Answer = noAnswer('No response in time.');
const BEHIND: Answer = unusable('The RPC node is behind the recorded block.');
const WITHOUT_HISTORY: Answer = refused({ kind: 'unusable', detail: 'no', deniesInclusion: 'no-block' });
const DENIES: Answer = refused({ kind: 'unusable', detail: 'no', deniesInclusion: 'block' });

/** What two nodes state, without what they state of its payments by contracts. */
async function seen(answers: readonly Answer[], found: ActivityBlock | null = null) {
  const value = await read(answers, found);
  if (typeof value === 'string' || value === null) return value;
  const { isTracedAlike: _, ...rest } = value;
  return rest;
}

async function read(answers: readonly Answer[], found: ActivityBlock | null = null) {
  const result = await poolOf(answers, found);
  return result.ok ? result.value : result.refusal.detail;
}

function poolOf(answers: readonly Answer[], found: ActivityBlock | null) {
  const nodes: readonly RpcNode[] = answers.map(() => ({
    host: 'node.test',
    request: async () => noAnswer('not asked in this test'),
  }));
  const pool = { nodes, nodeProblem: async () => null };
  return activityFromPool(pool, found, async (node) => answers[nodes.indexOf(node)] ?? UNREACHABLE);
}

test('a single configured RPC node is believed, and otherwise two must agree', async () => {
  expect(await seen([accepted(at())])).toEqual(at());
  expect(await seen([accepted(at()), accepted(at({ confirmations: 3, isFinal: false }))])).toEqual(
    at({ confirmations: 3, isFinal: false }),
  );
  for (const liar of [accepted(at({ hash: '0xb2' })), accepted(at({ number: '7' })), NOWHERE, UNREACHABLE]) {
    for (const order of [
      [liar, accepted(at()), accepted(at())],
      [accepted(at()), liar, accepted(at())],
    ]) {
      expect(await seen(order)).toEqual(at());
    }
  }
});

test('a block that only one of two RPC nodes reports is recorded nowhere', async () => {
  for (const other of [NOWHERE, UNREACHABLE, BEHIND, DENIES]) {
    expect(await seen([accepted(at()), other])).toBe(UNPROVEN);
    expect(await seen([other, accepted(at())])).toBe(UNPROVEN);
    // The record of this block stays as it is.
    const found = { ...BLOCK, confirmations: 4, isFinal: false };
    expect(await seen([other, accepted(at())], found)).toBe(UNPROVEN);
  }
  expect(await seen([accepted(at({ hash: '0xb2' })), accepted(at())], BLOCK)).toBe(UNPROVEN);
});

const UNREAD: Answer = refused({ kind: 'unusable', detail: 'version (2)', isUnread: true });
const failed = (): ReadTransaction => ({ ...at(), hasFailed: true });

test('a failed transaction is proven by two RPC nodes, as a successful one is', async () => {
  expect(await seen([accepted(failed())])).toEqual(failed());
  expect(await seen([accepted(failed()), accepted(failed())])).toEqual(failed());
  for (const other of [NOWHERE, UNREACHABLE, accepted(at()), UNREAD])
    expect(await seen([accepted(failed()), other])).toBe(UNPROVEN);
  expect(await seen([accepted(failed()), accepted(at()), accepted(at())])).toEqual(at());
});

test('a transaction is unread when every RPC node has it in a form that cannot be read', async () => {
  const outcome = async (answers: readonly Answer[], found: ActivityBlock | null = null) => {
    const result = await poolOf(answers, found);
    return result.ok ? result.value : [result.refusal.detail, result.refusal.isUnread === true];
  };
  expect(await outcome([UNREAD])).toEqual(['version (2)', true]);
  expect(await outcome([UNREAD, UNREAD])).toEqual(['version (2)', true]);
  // Another node may show it later, so it is read again, and it is not absent.
  for (const other of [NOWHERE, UNREACHABLE]) {
    expect(await outcome([other, UNREAD])).toEqual(['version (2)', false]);
    expect(await outcome([UNREAD, other])).toEqual(['version (2)', false]);
  }
  // One node does not keep a record that another one denies.
  expect(await outcome([UNREAD, NOWHERE], { ...BLOCK, isFinal: false })).toBeNull();
});

const PAID: ChainMovement = {
  ...NATIVE,
  uid: 'top',
  kind: 'native',
  from: '0x1',
  to: '0x2',
  amount: amountOf(7n),
};
const moving = (...movements: readonly ChainMovement[]) => ({ ...at(), movements });

test('a movement that one RPC node adds, leaves out or changes is not proven by the block, at any position', async () => {
  const added = { ...PAID, uid: 'log:0', kind: 'erc20', tokenAddress: '0x3', amount: amountOf(10n ** 18n) } as const;
  const lies = [
    moving(PAID, added),
    moving(),
    moving({ ...PAID, amount: amountOf(8n) }),
    moving({ ...PAID, from: '0x9' }),
    // A burn by the wallet and a mint for it.
    moving({ ...PAID, from: null }),
    { ...moving(PAID), signer: '0x9' },
  ];
  for (const lie of lies) {
    for (const order of [
      [lie, moving(PAID)],
      [moving(PAID), lie],
    ]) {
      const answers = order.map((one) => accepted(one));
      expect(await seen(answers)).toBe(UNPROVEN);
      // A record with proven contents keeps them.
      expect(await seen(answers, { ...BLOCK, isFinal: false })).toBe(UNPROVEN);
    }
    for (const order of [
      [lie, moving(PAID), moving(PAID)],
      [moving(PAID), lie, moving(PAID)],
      [moving(PAID), moving(PAID), lie],
    ]) {
      expect(await seen(order.map((one) => accepted(one)))).toEqual(moving(PAID));
    }
  }
});

test('nodes that order, trace or read the state differently agree about the contents', async () => {
  const traced = { ...PAID, uid: 'trace:0', kind: 'internal' } as const;
  const token = { ...PAID, uid: 'log:0', tokenAddress: '0x3' };
  const [asAmount, asId] = [
    { ...token, kind: 'erc20' },
    { ...token, kind: 'erc721', tokenId: '7', amount: amountOf(1n) },
  ] as const;
  // What one node alone traces comes apart, with its host.
  const untraced = { untracedBy: ['node.test'], isUntraced: true as const };
  expect(await seen([accepted({ ...moving(PAID), ...untraced }), accepted(moving(traced, PAID))])).toEqual({
    ...moving(PAID),
    untracedBy: ['node.test'],
    claim: { by: 1, host: 'node.test', movements: [traced] },
  });
  // Another node that traces as well contradicts it.
  expect(await seen([accepted(moving(PAID)), accepted(moving(traced, PAID))])).toEqual(moving(PAID));
  const both = accepted(moving(traced, PAID));
  expect(await seen([both, accepted(moving(PAID)), both])).toEqual(moving(PAID, traced));
  expect(await seen([accepted(moving(PAID, asAmount)), accepted(moving(asAmount, PAID))])).toEqual(
    moving(PAID, asAmount),
  );
  expect(await seen([accepted(moving(asAmount)), accepted(moving(asId))])).toMatchObject({ block: BLOCK });
});

test('a payment is gone when an RPC node reports it as gone and none still has it', async () => {
  expect(await seen([NOWHERE, UNREACHABLE])).toBeNull();
  const recent = { ...BLOCK, isFinal: false };
  expect(await seen([DENIES, UNREACHABLE], recent)).toBeNull();
  expect(await seen([WITHOUT_HISTORY, UNREACHABLE], recent)).toBeNull();
  expect(await seen([DENIES, DENIES], recent)).toBeNull();
  expect(await seen([accepted(at(null)), NOWHERE])).toEqual(at(null));
  expect(await seen([BEHIND, UNREACHABLE], BLOCK)).toBe('The RPC node is behind the recorded block.');
  expect(await seen([])).toBe('No RPC node is configured for this chain.');
});

test('a final payment is gone when two RPC nodes show it, and not for lack of their history', async () => {
  for (const shows of [DENIES, NOWHERE]) {
    for (const other of [UNREACHABLE, BEHIND, WITHOUT_HISTORY]) {
      expect(await seen([shows, other], BLOCK)).not.toBeNull();
      expect(await seen([other, shows], BLOCK)).not.toBeNull();
      expect(await seen([other, shows, shows], BLOCK)).toBeNull();
    }
    expect(await seen([shows], BLOCK)).toBeNull();
  }
  expect(await seen([WITHOUT_HISTORY, WITHOUT_HISTORY], BLOCK)).not.toBeNull();
});

test('payments by contracts are known when two RPC nodes trace alike and none traces otherwise', async () => {
  const paid = { ...PAID, uid: 'trace:0', kind: 'internal' } as const;
  const untraced = { ...at(), untracedBy: ['node.test'], isUntraced: true as const };
  const isTracedAlike = async (...answers: readonly ReadTransaction[]) => {
    const value = await read(answers.map((one) => accepted(one)));
    return value !== null && typeof value !== 'string' && value.isTracedAlike === true;
  };
  expect(await isTracedAlike(at(), at())).toBe(true);
  expect(await isTracedAlike(moving(paid), moving(paid), untraced)).toBe(true);
  expect(await isTracedAlike(moving(paid), at())).toBe(false);
  expect(await isTracedAlike(moving(paid), at(), at())).toBe(false);
  expect(await isTracedAlike(at(), untraced)).toBe(false);
});

test('a node without a trace is named, and nothing is missing while another one traced the same block', async () => {
  const untraced = (host: string) => accepted({ ...at(), untracedBy: [host], isUntraced: true as const });
  expect(await seen([untraced('a.test'), accepted(at())])).toEqual({ ...at(), untracedBy: ['a.test'] });
  expect(await seen([untraced('a.test'), untraced('b.test')])).toEqual({
    ...at(),
    untracedBy: ['a.test', 'b.test'],
    isUntraced: true,
  });
  expect(transactionIn({ ...at(), untracedBy: ['a.test'], isUntraced: true })).toEqual(at());
});

test('a memo is recorded when two RPC nodes state it alike, and never delays the payment', async () => {
  const noted = (memo?: string) => accepted({ ...at(), ...(memo === undefined ? {} : { memo }) });
  const memoOf = async (...answers: Answer[]) => {
    const value = await read(answers);
    return typeof value === 'string' ? value : (value?.memo ?? null);
  };
  expect(await memoOf(noted('a'))).toBe('a');
  expect(await memoOf(noted('a'), noted('a'))).toBe('a');
  expect(await memoOf(noted('a'), noted('b'))).toBeNull();
  expect(await memoOf(noted(), noted('a'))).toBeNull();
  expect(await memoOf(noted('b'), noted('a'), noted('a'))).toBe('a');
  const proven = await read([noted('a'), noted('a')]);
  expect(typeof proven !== 'string' && proven !== null && transactionIn(proven).memo).toBe('a');
});
