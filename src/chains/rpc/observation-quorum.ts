import { asChainFault } from '#chains/rpc/node-fallback.ts';
import type { ChainFault, Observation, WatchedAttempts } from '#chains/chain-adapter.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { NO_NODE } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Inclusion, SecondNodeVerdict } from '#domain/transaction/transaction.ts';

/** What one RPC node says of the attempts of a transaction. */
type Observer = (node: RpcNode, watched: WatchedAttempts) => Promise<Result<Observation, NodeProblem>>;

type Answer = Result<Observation, NodeProblem>;

/**
 * Where the attempts of a transaction are, as all configured RPC nodes see it. The first one that has an attempt in a block is believed, and
 * where that block is deep enough to end the transaction a second node is asked for the same inclusion. That a node does not know a
 * transaction is no evidence while another one knows it: so what ends a transaction without an inclusion has to come from every node that is
 * configured, and a node that is away holds that end up.
 */
export async function observeWithQuorum(
  pool: NodePool,
  { chain, watched }: { readonly chain: Chain; readonly watched: WatchedAttempts },
  observe: Observer,
): Promise<Result<Observation, ChainFault>> {
  const observeOn = async (node: RpcNode, seenBefore: WatchedAttempts): Promise<Answer> => {
    const problem = await pool.nodeProblem(node);
    return problem === null ? observe(node, seenBefore) : refused(problem);
  };
  const [first, ...others] = pool.nodes;
  if (first === undefined) return asChainFault(refused(NO_NODE));
  const answers = [await observeOn(first, watched)];
  // Together: one that is away takes its time to say nothing.
  if (inclusionIn(answers) === null)
    answers.push(...(await Promise.all(others.map((node) => observeOn(node, watched)))));
  const found = inclusionIn(answers);
  if (found === null) return asChainFault(absenceAmong(answers));
  const { inclusion, index } = found;
  if (pool.nodes.length === 1) return accepted({ type: 'included', inclusion });
  if (!needsSecond(inclusion, watched, chain))
    return accepted({ type: 'included', inclusion: keptFrom(watched, inclusion) });
  const rest = pool.nodes.filter((_, i) => i !== index);
  // By the block that is claimed: one that does not have it yet says that it is behind, and not that the transaction is gone.
  const seconds = await Promise.all(rest.map((node) => observeOn(node, { ...watched, inclusion })));
  return accepted({ type: 'included', inclusion: { ...inclusion, secondNode: secondAmong(seconds, inclusion) } });
}

function inclusionIn(answers: readonly Answer[]): { readonly inclusion: Inclusion; readonly index: number } | null {
  for (const [index, answer] of answers.entries()) {
    if (answer.ok && answer.value.type === 'included') return { inclusion: answer.value.inclusion, index };
  }
  return null;
}

/** What is not deep enough ends nothing; and what a second node has confirmed once needs no further one in the same block. */
function needsSecond(found: Inclusion, { inclusion: before }: WatchedAttempts, chain: Chain): boolean {
  const isConfirmed = before?.secondNode === 'agrees' && isSameInclusion(before, found);
  return found.confirmations >= chain.confirmations && !isConfirmed;
}

/**
 * A node that does not answer, or is behind the block, does not contradict. One that has the block and not the transaction does: a receipt is
 * forged more easily than a block, and who forges one names a block that is there.
 */
function secondAmong(answers: readonly Answer[], claimed: Inclusion): SecondNodeVerdict {
  const answered = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  if (answered.some((one) => one.type === 'included' && isSameInclusion(one.inclusion, claimed))) return 'agrees';
  const denies = answers.some((answer) => !answer.ok && 'deniesInclusion' in answer.refusal);
  return answered.length === 0 && !denies ? 'away' : 'disagrees';
}

/** What a second node has said of the same inclusion stays. */
function keptFrom({ inclusion: before }: WatchedAttempts, found: Inclusion): Inclusion {
  return before?.secondNode === 'agrees' && isSameInclusion(before, found) ? { ...found, secondNode: 'agrees' } : found;
}

function isSameInclusion(one: Inclusion, other: Inclusion): boolean {
  return one.hash === other.hash && one.blockHash === other.blockHash && one.succeeded === other.succeeded;
}

/** What follows where no node has an attempt in a block. Refuses where none of them can tell. */
function absenceAmong(answers: readonly Answer[]): Result<Observation, NodeProblem> {
  const answered = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const absent = answered.filter((one) => one.type === 'absent');
  const waiting = absent.find(({ inMempool }) => inMempool);
  if (waiting !== undefined) {
    const isWithheld = absent.some((one) => !one.inMempool && !one.nonceTaken && one.isUnexplained !== true);
    return accepted(isWithheld ? { ...waiting, isWithheld: true } : waiting);
  }
  if (answered.length === 0) return refused(answers.find((answer) => !answer.ok)?.refusal ?? NO_NODE);
  if (answered.length === answers.length && absent.length === 0) return accepted({ type: 'lapsed' });
  const nothing = { type: 'absent', inMempool: false, nonceTaken: false } as const;
  if (absent.length === answers.length && absent.every(({ nonceTaken }) => nonceTaken)) {
    return accepted({ ...nothing, nonceTaken: true });
  }
  const isUsed = absent.some(({ nonceTaken, isUnexplained }) => nonceTaken || isUnexplained === true);
  if (isUsed) return accepted({ ...nothing, isUnexplained: true });
  const isGone = absent.length > 0 && answered.every((one) => one.type === 'absent' && one.isCoinUnknown === true);
  return accepted(isGone ? { ...nothing, isCoinUnknown: true } : nothing);
}
