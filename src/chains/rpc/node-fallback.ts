import type { BusyFault, PreparationFault } from '#chains/chain-client.ts';
import type { ChainFault, Quote } from '#chains/chain-rules.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { NO_NODE, onEveryNode, onFirstUsableNode, unusable } from '#chains/rpc/node-pool.ts';
import type { RpcCall, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { maxLagBlocks } from '#domain/asset/chain.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Prepares with the first usable RPC node, and turns node problems into `transient` faults for
 * every chain family.
 */
export async function prepareFromPool<T>(
  pool: NodePool,
  read: (node: RpcNode) => Promise<Result<T, PermanentFault | BusyFault | NodeProblem>>,
): Promise<Result<T, PreparationFault>> {
  const result = await onFirstUsableNode(pool, read);
  if (result.ok) return result;
  const { refusal } = result;
  if (refusal.kind === 'permanent' || refusal.kind === 'busy') return refused(refusal);
  return refused({ kind: 'transient', detail: refusal.detail });
}

/**
 * Returns a quote from an RPC node that has reached a block: a node that is behind it may report
 * balances that a final transaction has spent since.
 */
export function quoteFromPool<Q extends Quote>(
  pool: NodePool,
  notBefore: bigint,
  read: (node: RpcNode) => Promise<Result<Q, PermanentFault | NodeProblem>>,
): Promise<Result<Q, PreparationFault>> {
  return prepareFromPool(pool, async (node): Promise<Result<Q, PermanentFault | NodeProblem>> => {
    const quote = await read(node);
    const block = quote.ok ? quote.value.spending?.funds.blockNumber : undefined;
    return block !== undefined && BigInt(block) < notBefore
      ? unusable('The RPC node is behind the final block.')
      : quote;
  });
}

/**
 * Returns the newest block that two RPC nodes have; that of the only node when no other is
 * configured. Refuses when fewer answer, or no two of them have similar heads.
 */
export async function provenHead(
  pool: NodePool,
  chain: Pick<Chain, 'family' | 'pollIntervalMs'>,
  getHead: RpcCall<bigint>,
): Promise<Result<bigint, ChainFault>> {
  const answers = await onEveryNode<bigint>(pool, (node) => node.request(getHead));
  const heads = answers.flatMap((answer) => (answer.ok ? [answer.value] : [])).toSorted((a, b) => (a < b ? 1 : -1));
  const fault = answers.find((answer) => !answer.ok)?.refusal ?? NO_NODE;
  const [only] = heads;
  if (only === undefined || (heads.length === 1 && pool.nodes.length > 1)) return asChainFault(refused(fault));
  if (pool.nodes.length === 1) return accepted(only);
  const second = heads.slice(1).find((head, i) => (heads[i] ?? head) - head <= maxLagBlocks(chain));
  return second === undefined ? refused({ detail: 'No two RPC nodes agree on the newest block.' }) : accepted(second);
}

/**
 * Reads from all RPC nodes, and returns what two of them report alike, merged by `joined`; what the
 * only configured one reports. Refuses when nodes that answer disagree, and when one node alone
 * answers: its false answer would be signed while an honest node does not respond to one call.
 *
 * @param joined null for two contradicting answers
 */
export async function agreedFromPool<T>(
  pool: NodePool,
  read: (node: RpcNode) => Promise<Result<T, NodeProblem>>,
  joined: (one: T, other: T) => T | null,
): Promise<Result<T, ChainFault>> {
  const answers = await onEveryNode(pool, read);
  const stated = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  for (const [i, one] of stated.entries()) {
    for (const other of stated.slice(i + 1)) {
      const both = joined(one, other);
      if (both !== null) return accepted(both);
    }
  }
  const objection = answers.find((answer) => !answer.ok && answer.refusal.kind === 'unusable');
  const [first] = stated;
  if (pool.nodes.length === 1 && first !== undefined) return accepted(first);
  if (stated.length > 1) return refused({ detail: 'The RPC nodes disagree.' });
  return asChainFault(objection ?? answers.find((answer) => !answer.ok) ?? refused(NO_NODE));
}

/** Returns what both RPC nodes state, field by field; null when a field differs. */
export function sameStatement<T extends object>(one: T, other: T): T | null {
  const fields = Object.keys(one) as (keyof T)[];
  return fields.every((field) => one[field] === other[field]) ? one : null;
}

/** Reads from the first usable RPC node. */
export async function readFromPool<T>(
  pool: NodePool,
  read: (node: RpcNode) => Promise<Result<T, NodeProblem>>,
): Promise<Result<T, ChainFault>> {
  return asChainFault(await onFirstUsableNode<T, never>(pool, read));
}

export function asChainFault<T>(result: Result<T, NodeProblem>): Result<T, ChainFault> {
  return result.ok ? result : refused({ detail: result.refusal.detail });
}
