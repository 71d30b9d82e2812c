import type { NodeFault } from '#chains/rpc/json-rpc.ts';
import type { Block } from '#chains/evm/client/rpc-calls.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';

/** So many times the chain's confirmations count as beyond any reorganisation where neither a node nor the chain's row says what is. Ours. */
const FINAL_AFTER_TIMES = 4n;

/** -32602 where the tag is none; -39001 Besu and Erigon, where no block has it. reth and Nethermind answer null then. */
const NO_SUCH_BLOCK = new Set([-32602, -39001]);
/** geth's code for nearly everything: its words are 'finalized block not found'. */
const SERVER_ERROR = -32000;

export interface ChainView {
  readonly chain: Chain;
  readonly head: Block;
  /** What the node says when it is asked for its `finalized` block. */
  readonly finalized: Result<Block | null, NodeFault>;
}

/**
 * How deep a block is, counting itself, and whether it is beyond any reorganisation. A node that is in trouble when it is asked says nothing
 * about that: what is believed to be final is never looked at again.
 */
export function depthOf(blockNumber: bigint, { chain, head, finalized }: ChainView) {
  // A node behind a balancer may answer with an older head than the receipt's block.
  const depth = head.number < blockNumber ? 1n : head.number - blockNumber + 1n;
  const isFinal =
    finalized.ok && finalized.value !== null
      ? finalized.value.number >= blockNumber
      : hasNoneFinal(finalized) && depth >= countedFinalDepth(chain);
  return { confirmations: Number(depth), isFinal };
}

/** In blocks, for whoever can only count. */
export function countedFinalDepth({ confirmations, finalDepth }: Pick<Chain, 'confirmations' | 'finalDepth'>): bigint {
  return finalDepth === undefined ? FINAL_AFTER_TIMES * BigInt(confirmations) : BigInt(finalDepth);
}

/** Whether the node says that it has no such block, in one of the ways in which nodes say so. */
function hasNoneFinal(answer: ChainView['finalized']): boolean {
  if (answer.ok) return answer.value === null;
  const { refusal } = answer;
  if (refusal.kind === 'no-answer') return false;
  return (
    NO_SUCH_BLOCK.has(refusal.code) ||
    (refusal.code === SERVER_ERROR && /^(?:finalized block not found|unknown block)/i.test(refusal.detail))
  );
}
