import type { NodeFault } from '#chains/rpc/json-rpc.ts';
import type { Block } from '#chains/evm/client/rpc-calls.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';

/**
 * This multiple of the chain's confirmations counts as beyond any reorg when neither an RPC node
 * nor the chain's row defines the depth. Ours.
 */
const FINAL_AFTER_TIMES = 4n;

/** A faulty RPC node can return any head, and a record stores the depth as a safe integer. */
const MAX_DEPTH = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * -32602 when the tag is unknown; -39001 is from Besu and Erigon, when no block has it. reth and
 * Nethermind return null then.
 */
const NO_SUCH_BLOCK = new Set([-32602, -39001]);
/** geth's code for nearly everything; its message is 'finalized block not found'. */
const SERVER_ERROR = -32000;

export interface ChainView {
  readonly chain: Chain;
  readonly head: Block;
  /** The RPC node's answer to the request for its `finalized` block. */
  readonly finalized: Result<Block | null, NodeFault>;
}

/**
 * Returns how deep a block is, including itself, and whether it is beyond any reorg. An RPC node
 * with a fault proves no finality, because a final transaction is never checked again.
 */
export function depthOf(blockNumber: bigint, { chain, head, finalized }: ChainView) {
  // A load-balanced RPC node may return an older head than the receipt's block.
  const depth = head.number < blockNumber ? 1n : head.number - blockNumber + 1n;
  const isFinal =
    finalized.ok && finalized.value !== null
      ? finalized.value.number >= blockNumber
      : hasNoneFinal(finalized) && depth >= countedFinalDepth(chain);
  return { confirmations: Number(depth < MAX_DEPTH ? depth : MAX_DEPTH), isFinal };
}

/** Returns the final depth in blocks, for use when no `finalized` block is available. */
export function countedFinalDepth({ confirmations, finalDepth }: Pick<Chain, 'confirmations' | 'finalDepth'>): bigint {
  return finalDepth === undefined ? FINAL_AFTER_TIMES * BigInt(confirmations) : BigInt(finalDepth);
}

/** Reports whether the RPC node states that it has no such block, in one of the known forms. */
function hasNoneFinal(answer: ChainView['finalized']): boolean {
  if (answer.ok) return answer.value === null;
  const { refusal } = answer;
  if (refusal.kind === 'no-answer') return false;
  return (
    NO_SUCH_BLOCK.has(refusal.code) ||
    (refusal.code === SERVER_ERROR && /^(?:finalized block not found|unknown block)/i.test(refusal.detail))
  );
}
