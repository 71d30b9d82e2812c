import { readFromPool, asChainFault } from '#chains/rpc/node-fallback.ts';
import type { AccountNonce } from '#chains/chain-client.ts';
import type { ChainFault } from '#chains/chain-rules.ts';
import { countedFinalDepth } from '#chains/evm/client/depth.ts';
import { getBlock, getNonce } from '#chains/evm/client/rpc-calls.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { NO_NODE, onEveryNode, reachedByTwo, unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Returns the transaction counts of an account from one RPC node, on the chain and with its
 * mempool. Refuses when no node is reachable.
 */
export function accountNonce(pool: NodePool, address: string): Promise<Result<AccountNonce, ChainFault>> {
  return readFromPool(pool, (node) => countsOf(node, address));
}

/**
 * Returns the counts with their proof: a count is proven when two RPC nodes report it alike. When
 * only one node is configured, every answer depends on it, and only its count at a final block
 * counts as proven: a single wrong answer is then not enough, and its mempool proves nothing.
 */
export async function provenNonce(
  pool: NodePool,
  chain: Chain,
  address: string,
): Promise<Result<AccountNonce, ChainFault>> {
  if (pool.nodes.length === 1) return readFromPool(pool, (node) => finalCounts(node, chain, address));
  const answers = await onEveryNode(pool, (node) => countsAtHead(node, address));
  const stated = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const [first] = stated;
  if (first !== undefined) return accepted(agreed(first, stated));
  return asChainFault(answers.findLast((answer) => !answer.ok) ?? refused(NO_NODE));
}

interface CountsAt {
  readonly latest: bigint;
  readonly pending: bigint;
  /** The head before the counts. */
  readonly head: bigint;
}

/**
 * Returns each count that two nodes report alike. A count without agreement is the first node's,
 * and is not proven.
 */
function agreed({ latest, pending }: CountsAt, stated: readonly CountsAt[]): AccountNonce {
  const provenLatest = statedTwice(stated.map((counts) => counts.latest));
  const provenPending = statedTwice(stated.map((counts) => counts.pending));
  // The head that two of the agreeing nodes have reached: two nodes may lag behind alike.
  const heads = stated.filter((counts) => counts.latest === provenLatest).map(({ head }) => head);
  const block = reachedByTwo(heads) ?? 0n;
  return {
    latest: provenLatest ?? latest,
    pending: provenPending ?? pending,
    proven: { latest: provenLatest, pending: provenPending, block },
  };
}

function statedTwice(values: readonly bigint[]): bigint | null {
  return values.find((value, i) => values.indexOf(value) !== i) ?? null;
}

async function countsOf(node: RpcNode, address: string): Promise<Result<AccountNonce, NodeProblem>> {
  const [latest, pending] = await Promise.all([
    node.request(getNonce(address, 'latest')),
    node.request(getNonce(address, 'pending')),
  ]);
  if (!latest.ok) return latest;
  return pending.ok ? accepted({ latest: latest.value, pending: pending.value }) : pending;
}

async function countsAtHead(node: RpcNode, address: string): Promise<Result<CountsAt, NodeProblem>> {
  const head = await node.request(getBlock('latest'));
  if (!head.ok) return head;
  if (head.value === null) return unusable('The RPC node has no newest block.');
  const counts = await countsOf(node, address);
  return counts.ok ? accepted({ ...counts.value, head: head.value.number }) : counts;
}

async function finalCounts(node: RpcNode, chain: Chain, address: string): Promise<Result<AccountNonce, NodeProblem>> {
  const counts = await countsOf(node, address);
  if (!counts.ok) return counts;
  const number = await finalNumber(node, chain);
  if (!number.ok) return number;
  const latest = number.value === null ? accepted(null) : await node.request(getNonce(address, number.value));
  const block = number.value ?? 0n;
  return latest.ok ? accepted({ ...counts.value, proven: { latest: latest.value, pending: null, block } }) : latest;
}

/** Returns the newest final block; null when the chain is too short to have one. */
async function finalNumber(node: RpcNode, chain: Chain): Promise<Result<bigint | null, NodeProblem>> {
  const finalized = await node.request(getBlock('finalized'));
  if (finalized.ok && finalized.value !== null) return accepted(finalized.value.number);
  if (!finalized.ok && finalized.refusal.kind === 'no-answer') return finalized;
  const head = await node.request(getBlock('latest'));
  if (!head.ok) return head;
  if (head.value === null) return unusable('The RPC node has no newest block.');
  const depth = countedFinalDepth(chain);
  return accepted(head.value.number < depth ? null : head.value.number - depth);
}
