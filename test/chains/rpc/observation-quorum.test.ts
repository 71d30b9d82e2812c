import { expect, test } from 'vitest';
import { observeWithQuorum } from '#chains/rpc/observation-quorum.ts';
import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { unshown, unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { noAnswer } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';
import { inclusion, OTHER_HASH } from '../../domain/cast.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { movementsOf, NATIVE } from '#domain/asset/movement.ts';
import { anvilChain } from '../evm/local-chain.ts';

/** Covers the combined reports of several RPC nodes. */

type Answer = Result<Observation, NodeProblem>;

const UNREACHABLE: Answer = noAnswer('No response in time.');
const BEHIND: Answer = unusable('The RPC node is behind the recorded block.');
const DENIES: Answer = refused({
  kind: 'unusable',
  detail: 'the node has the recorded block, but not the transaction',
  deniesInclusion: 'block',
});
/**
 * The RPC node does not have the recorded block. An RPC node whose history begins later gives the
 * same answer.
 */
const KNOWS_NO_BLOCK: Answer = refused({ kind: 'unusable', detail: 'no block', deniesInclusion: 'no-block' });
const UNSHOWN: Answer = unshown('The RPC node has a receipt without its transaction.');
const ILL: Answer = refused({ kind: 'error-answer', code: -32_004, detail: 'Block not available', data: null });
const NOTHING = accepted<Observation>({ type: 'absent', inMempool: false, nonceTaken: false });
const WAITING = accepted<Observation>({ type: 'absent', inMempool: true, nonceTaken: false });
/** One RPC node has the transaction, and another one that should have it does not. */
const WITHHELD = accepted<Observation>({ type: 'absent', inMempool: true, nonceTaken: false, isWithheld: true });
const TAKEN = accepted<Observation>({ type: 'absent', inMempool: false, nonceTaken: true });
const LAPSED = accepted<Observation>({ type: 'lapsed' });
const UNEXPLAINED = accepted<Observation>({
  type: 'absent',
  inMempool: false,
  nonceTaken: false,
  isUnexplained: true,
});
/** One RPC node states that the nonce is used, and another one that it is not. */
const DISPUTED = accepted<Observation>({ type: 'absent', inMempool: false, nonceTaken: false, isUseDisputed: true });
const COIN_UNKNOWN = accepted<Observation>({
  type: 'absent',
  inMempool: false,
  nonceTaken: false,
  isCoinUnknown: true,
});
const lives = (liveUntil: string) =>
  accepted<Observation>({ type: 'absent', inMempool: false, nonceTaken: false, liveUntil });
const included = (differences: Partial<Inclusion> = {}) =>
  accepted<Observation>({ type: 'included', inclusion: inclusion({ confirmations: 3, ...differences }) });

/** An inclusion whose contents no two RPC nodes have stated. */
const claimed = (differences: Partial<Inclusion> = {}) =>
  included({ feePaid: amountOf(0n), movements: [], movementCount: 0, changes: [], ...differences });

/**
 * Returns the combined observation of RPC nodes that give these answers in order, and the requests
 * to them.
 */
async function said(answers: readonly Answer[], before: Inclusion | null = null) {
  const requests: { readonly node: number; readonly seenBefore: Inclusion | null }[] = [];
  const nodes: readonly RpcNode[] = answers.map(() => ({
    host: 'node.test',
    request: async () => noAnswer('not asked in this test'),
  }));
  const pool: NodePool = { nodes, nodeProblem: async () => null };
  const newest = { payload: '0x', validUntil: null };
  const watched: WatchedAttempts = { from: '0x', nonce: 0n, hashes: [], newest, inclusion: before };
  const chain = anvilChain({ confirmations: 3 });
  const whole = await observeWithQuorum(pool, { chain, watched }, async (one, { inclusion: seenBefore }) => {
    const node = nodes.indexOf(one);
    requests.push({ node, seenBefore });
    return answers[node] ?? UNREACHABLE;
  });
  return { seen: withoutStatements(whole), requests };
}

function withoutStatements(seen: Awaited<ReturnType<typeof observeWithQuorum>>) {
  if (!seen.ok || seen.value.type === 'lapsed') return seen;
  const { statements: _, ...rest } = seen.value;
  return accepted(rest);
}

/** Returns what nodes state, without the names of those that stated nothing. */
function statedIn({ seen }: Awaited<ReturnType<typeof said>>) {
  if (!seen.ok || seen.value.type !== 'absent') return seen;
  const { unansweredBy: _, ...rest } = seen.value;
  return accepted(rest);
}

const seenBy = async (...answers: readonly Answer[]) => statedIn(await said(answers));
const secondNodeOf = async (...answers: readonly Answer[]) => {
  const seen = await seenBy(...answers);
  return seen.ok && seen.value.type === 'included' ? (seen.value.inclusion.secondNode ?? 'not asked') : seen;
};

test('an RPC node that knows the hash prevents an end, at any position in the list', async () => {
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

test('an absence names the RPC nodes that stated nothing, and denials are statements', async () => {
  const silentIn = async (answers: readonly Answer[], before: Inclusion | null = null) => {
    const { seen } = await said(answers, before);
    return seen.ok && seen.value.type === 'absent' ? seen.value.unansweredBy : 'no absence';
  };
  for (const silent of [UNREACHABLE, BEHIND, ILL]) {
    for (const stated of [UNEXPLAINED, COIN_UNKNOWN, NOTHING, WAITING]) {
      expect(await silentIn([stated, silent])).toEqual(['node.test']);
      expect(await silentIn([silent, stated, silent])).toEqual(['node.test', 'node.test']);
      expect(await silentIn([stated, stated])).toBeUndefined();
    }
  }
  expect(await silentIn([DENIES, NOTHING], inclusion())).toBeUndefined();
});

test('a conflict or a lapsed attempt counts only when every configured RPC node reports it', async () => {
  for (const ends of [TAKEN, LAPSED]) {
    expect(await seenBy(ends)).toEqual(ends);
    expect(await seenBy(ends, ends)).toEqual(ends);
    expect(await seenBy(ends, ends, BEHIND)).not.toEqual(ends);
  }
  for (const other of [UNEXPLAINED, UNREACHABLE, LAPSED, COIN_UNKNOWN]) {
    expect(await seenBy(TAKEN, other)).toEqual(UNEXPLAINED);
    expect(await seenBy(other, TAKEN)).toEqual(UNEXPLAINED);
  }
  expect(await seenBy(LAPSED, NOTHING)).toEqual(NOTHING);
  expect(await seenBy(UNREACHABLE, UNREACHABLE)).toEqual({ ok: false, refusal: { detail: 'No response in time.' } });
  expect(await seenBy()).toMatchObject({ ok: false });
});

test('a used nonce is unexplained only when no RPC node that answers states the opposite, at any position', async () => {
  for (const used of [TAKEN, UNEXPLAINED]) {
    for (const order of [
      [used, NOTHING],
      [NOTHING, used],
      [used, used, NOTHING],
      [UNREACHABLE, NOTHING, used],
      [COIN_UNKNOWN, used, NOTHING],
    ]) {
      expect(await seenBy(...order)).toEqual(DISPUTED);
    }
    expect(await seenBy(UNEXPLAINED, used)).toEqual(UNEXPLAINED);
  }
});

test('an inclusion that one RPC node states and does not show contradicts a node on which it can still be made', async () => {
  for (const other of [NOTHING, lives('7')]) {
    expect(await seenBy(UNSHOWN, other)).toEqual(DISPUTED);
    expect(await seenBy(UNREACHABLE, other, UNSHOWN)).toEqual(DISPUTED);
  }
  expect(await seenBy(UNSHOWN, WAITING)).toEqual(WAITING);
  expect(await seenBy(UNSHOWN, UNEXPLAINED)).toEqual(UNEXPLAINED);
  expect(await seenBy(UNSHOWN, UNREACHABLE)).toMatchObject({ ok: false });
  expect(await seenBy(UNREACHABLE, NOTHING)).toEqual(NOTHING);
});

test('an inclusion that only one RPC node reports is checked with the others by its block, and is not final', async () => {
  const before = await said([included({ finalized: true }), NOTHING]);
  expect(before.requests).toEqual([
    { node: 0, seenBefore: null },
    { node: 1, seenBefore: null },
    { node: 1, seenBefore: inclusion({ confirmations: 3, finalized: true }) },
  ]);
  expect(before.seen).toEqual(claimed({ secondNode: 'disagrees' }));
  const unreachable = await seenBy(UNREACHABLE, included({ finalized: true }));
  expect(unreachable).toEqual(claimed({ secondNode: 'away', isFinalForOneNode: true }));
  const alone = await said([included({ finalized: true })]);
  expect([alone.seen, alone.requests.length]).toEqual([included({ finalized: true }), 1]);
});

test('two RPC nodes that report the same inclusion prove it, at the smaller depth and finality', async () => {
  const liars = [
    included({ blockHash: '0xb2' }),
    included({ blockNumber: '1000000000000' }),
    included({ hash: OTHER_HASH }),
    included({ succeeded: false }),
    NOTHING,
    UNREACHABLE,
  ];
  const deep = included({ confirmations: 99, finalized: true });
  for (const liar of liars) {
    for (const order of [
      [liar, deep, included()],
      [deep, liar, included()],
      [included(), deep, liar],
    ]) {
      expect(await seenBy(...order)).toEqual(included({ secondNode: 'agrees', isFinalForOneNode: true }));
    }
    expect(await seenBy(liar, deep, deep)).toEqual(
      included({ confirmations: 99, finalized: true, secondNode: 'agrees' }),
    );
  }
});

test('an RPC node without an answer does not contradict an inclusion, and one with another observation does', async () => {
  expect(await secondNodeOf(included(), UNREACHABLE)).toBe('away');
  expect(await secondNodeOf(UNREACHABLE, included(), BEHIND)).toBe('away');
  for (const other of [
    DENIES,
    NOTHING,
    WAITING,
    TAKEN,
    included({ blockHash: '0xb2' }),
    included({ blockNumber: '7' }),
    included({ hash: OTHER_HASH }),
    included({ succeeded: false }),
  ]) {
    expect(await secondNodeOf(included(), other)).toBe('disagrees');
    expect(await secondNodeOf(included(), other, included())).toBe('agrees');
  }
});

test('a second RPC node that stands still counts as unreachable once the depth suffices for one alone', async () => {
  const still = included({ confirmations: 1 });
  expect(await seenBy(still, included({ confirmations: 5 }))).toEqual(
    included({ confirmations: 1, secondNode: 'agrees' }),
  );
  expect(await seenBy(still, included({ confirmations: 6, finalized: true }))).toEqual(
    included({ confirmations: 6, secondNode: 'away', isFinalForOneNode: true }),
  );
  expect(await seenBy(still, included({ confirmations: 9 }), included({ confirmations: 8 }))).toEqual(
    included({ confirmations: 8, secondNode: 'agrees' }),
  );
});

test('an inclusion that two RPC nodes confirmed keeps its depth while only one reports a greater one', async () => {
  const before = inclusion({ confirmations: 4, secondNode: 'agrees' });
  for (const other of [NOTHING, DENIES, UNREACHABLE]) {
    // A nonce slot is not released on the report of an RPC node that another one contradicts.
    const alone = other === UNREACHABLE ? { isFinalForOneNode: true as const } : {};
    expect((await said([included({ confirmations: 9, finalized: true }), other], before)).seen).toEqual(
      included({ confirmations: 4, secondNode: 'agrees', ...alone }),
    );
  }
  const moved = await said([included({ blockHash: '0xb2' }), NOTHING], before);
  expect(moved.seen).toEqual(claimed({ blockHash: '0xb2', secondNode: 'disagrees' }));
  const shallow = inclusion({ confirmations: 2, secondNode: 'agrees' });
  expect((await said([included({ confirmations: 9 }), UNREACHABLE], shallow)).seen).toEqual(
    included({ confirmations: 9, secondNode: 'away' }),
  );
});

test('a recorded inclusion is void when every RPC node that answers denies it', async () => {
  const before = inclusion({ secondNode: 'disagrees' });
  const after = async (...answers: readonly Answer[]) => statedIn(await said(answers, before));
  for (const answers of [[DENIES], [DENIES, DENIES], [DENIES, UNREACHABLE], [UNREACHABLE, DENIES], [NOTHING, DENIES]]) {
    expect(await after(...answers)).toEqual(NOTHING);
  }
  expect(await after(WAITING, DENIES)).toEqual(WITHHELD);
  // A denial does not show which transaction took the nonce, and does not prove that the attempt
  // lapsed.
  expect(await after(TAKEN, DENIES)).toEqual(UNEXPLAINED);
  expect(await after(LAPSED, DENIES)).toEqual(NOTHING);
  for (const answers of [
    [DENIES, BEHIND],
    [DENIES, ILL],
    [BEHIND],
    [BEHIND, UNREACHABLE],
    [KNOWS_NO_BLOCK, KNOWS_NO_BLOCK, BEHIND],
  ]) {
    expect(await after(...answers)).toMatchObject({ ok: false });
  }
  expect(await after(KNOWS_NO_BLOCK, UNREACHABLE)).toEqual(NOTHING);
  // Two RPC nodes that have read the whole block suffice without a third.
  expect(await after(DENIES, DENIES, BEHIND)).toEqual(NOTHING);
});

test('a contradiction is kept until the contradicting RPC node reports something else', async () => {
  const before = inclusion({ confirmations: 3, secondNode: 'disagrees' });
  for (const silent of [UNREACHABLE, BEHIND]) {
    expect((await said([included(), silent], before)).seen).toEqual(claimed({ secondNode: 'disagrees' }));
  }
  expect((await said([included(), included()], before)).seen).toEqual(included({ secondNode: 'agrees' }));
  // The contradicting RPC node now reports the same inclusion at a smaller depth, so it only lags
  // behind.
  const deep = included({ confirmations: 6 });
  expect((await said([deep, included({ confirmations: 1 })], before)).seen).toEqual(
    included({ confirmations: 6, secondNode: 'away' }),
  );
});

test('a denial by one RPC node does not undo an inclusion that two have confirmed', async () => {
  const before = inclusion({ secondNode: 'agrees' });
  expect((await said([UNREACHABLE, DENIES], before)).seen).toMatchObject({ ok: false });
  expect(statedIn(await said([DENIES, DENIES, UNREACHABLE], before))).toEqual(NOTHING);
});

test('a lifetime is shortened only by all RPC nodes, to the latest block that one of them states', async () => {
  expect(await seenBy(lives('9'))).toEqual(lives('9'));
  expect(await seenBy(lives('9'), lives('12'))).toEqual(lives('12'));
  for (const other of [NOTHING, UNREACHABLE, BEHIND]) {
    expect(await seenBy(lives('9'), other)).toEqual(NOTHING);
    expect(await seenBy(other, lives('9'))).toEqual(NOTHING);
  }
});

const WALLET = '0x1';
const movement = (differences: Partial<ChainMovement>): ChainMovement => ({
  ...NATIVE,
  kind: 'native',
  uid: 'top',
  from: WALLET,
  to: '0x2',
  amount: amountOf(7n),
  ...differences,
});
const paying = movement({});
const receipt = movement({ uid: 'log:0', kind: 'erc20', tokenAddress: '0x3', from: '0x9', to: WALLET });
const byContract = movement({
  uid: 'trace:0',
  kind: 'internal',
  from: '0x9',
  to: WALLET,
  amount: amountOf(10n ** 21n),
});
const final = (movements: readonly ChainMovement[], fee = 21n) =>
  included({ finalized: true, feePaid: amountOf(fee), ...movementsOf(WALLET, movements, anvilChain()) });
/** Returns what is recorded of an inclusion: fee, ids of the movements, and finality. */
async function recorded(answers: readonly Answer[], proven: readonly ChainMovement[] = []) {
  const nodes: readonly RpcNode[] = answers.map((_, i) => ({
    host: `node${i}.test`,
    request: async () => noAnswer('unused'),
  }));
  const newest = { payload: '0x', validUntil: null };
  const watched: WatchedAttempts = { from: WALLET, nonce: 0n, hashes: [], newest, inclusion: null };
  const claims: string[] = [];
  const watch = {
    chain: anvilChain({ confirmations: 3 }),
    watched,
    prove: async (_inclusion: Inclusion, { host }: { readonly host: string }) => {
      claims.push(host);
      return proven;
    },
  };
  const pool = { nodes, nodeProblem: async () => null };
  const seen = await observeWithQuorum(pool, watch, async (node) => answers[nodes.indexOf(node)] ?? UNREACHABLE);
  if (!seen.ok || seen.value.type !== 'included') throw new Error('it is included');
  const { feePaid, movements, finalized } = seen.value.inclusion;
  return [feePaid, movements.map(({ uid }) => uid), finalized, claims];
}

test('a fee or a movement that one RPC node adds, omits or changes is in no record, and nothing is final', async () => {
  for (const order of [
    [final([paying, receipt]), final([paying])],
    [final([paying]), final([paying, receipt])],
    [final([paying]), final([paying, movement({ ...receipt, amount: amountOf(1n) })])],
  ]) {
    expect(await recorded(order)).toEqual(['21', ['top'], false, []]);
  }
  // One node that states a movement twice is still one.
  expect(await recorded([final([paying, receipt, receipt]), final([paying])])).toEqual(['21', ['top'], false, []]);
  // More movements than a record holds.
  const many = [paying, ...Array.from({ length: 150 }, (_, i) => movement({ ...receipt, uid: `log:${i}` }))];
  expect(await recorded([final(many), final([paying])])).toEqual(['21', ['top'], false, []]);
  expect(await recorded([final([paying], 9n), final([paying])])).toEqual(['9', ['top'], false, []]);
  const honest = final([paying]);
  for (const liar of [final([paying, receipt]), final([paying], 10n ** 18n), final([])]) {
    for (const order of [
      [liar, honest, honest],
      [honest, liar, honest],
      [honest, honest, liar],
    ]) {
      expect(await recorded(order)).toEqual(['21', ['top'], true, []]);
    }
  }
});

test('a payment by a contract counts when two RPC nodes trace it, or the balances of another one prove it', async () => {
  const [traced, without] = [final([paying, byContract]), final([paying])];
  const untraced = without.ok ? accepted({ ...without.value, untracedBy: ['node.test'] } as Observation) : without;
  expect(await recorded([traced, traced])).toEqual(['21', ['top', 'trace:0'], true, []]);
  // Another node that traces as well contradicts it.
  expect(await recorded([without, traced], [byContract])).toEqual(['21', ['top'], true, []]);
  expect(await recorded([untraced, traced])).toEqual(['21', ['top'], true, ['node1.test']]);
  expect(await recorded([traced, untraced], [byContract])).toEqual(['21', ['top', 'trace:0'], true, ['node0.test']]);
});
