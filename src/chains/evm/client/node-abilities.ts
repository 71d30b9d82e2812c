import { BLOCK_CALLS } from '#chains/evm/client/block-calls.ts';
import { getBalanceAt } from '#chains/evm/client/rpc-calls.ts';
import { traceTransaction } from '#chains/evm/client/trace-calls.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { NodeAbilities } from '#domain/operations/rpc-node.ts';
import type { Result } from '#domain/result.ts';

/** More than a full node keeps the states of, which is 128 blocks. Ours. */
const HISTORY_BLOCKS = 1_000n;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/**
 * Reads what an RPC node can do besides: it traces a transaction of a block that it has, and it has
 * the state of an old block. Providers sell both apart from the rest, and payments do not need
 * them.
 */
export async function nodeAbilities(
  node: RpcNode,
  { number, hash }: { readonly number: bigint; readonly hash: string },
): Promise<NodeAbilities> {
  const [block, state] = await Promise.all([
    node.request(BLOCK_CALLS.getTransactionHashes({ number: number.toString(), hash })),
    number < HISTORY_BLOCKS ? null : node.request(getBalanceAt(ZERO_ADDRESS, number - HISTORY_BLOCKS)),
  ]);
  const [first] = (block.ok ? block.value : null) ?? [];
  return {
    traces: first === undefined ? null : isAble(await node.request(traceTransaction(first))),
    hasHistory: state === null ? null : isAble(state),
  };
}

/** A call without an answer states nothing. */
function isAble(answer: Result<unknown, NodeFault>): boolean | null {
  if (answer.ok) return true;
  return answer.refusal.kind === 'error-answer' ? false : null;
}
