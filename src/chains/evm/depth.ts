import type { Block } from '#chains/evm/question.ts';
import type { Chain } from '#domain/chain.ts';

/** A node without the `finalized` tag: this many times the chain's confirmations count as final. Ours. */
const FINAL_AFTER_TIMES = 4n;

export interface ChainView {
  readonly chain: Chain;
  readonly head: Block;
  /** Null when the node knows no such tag. */
  readonly finalized: Block | null;
}

/** How deep a block is, counting itself, and whether it is beyond any reorganisation. */
export function depthOf(blockNumber: bigint, { chain, head, finalized }: ChainView) {
  // A node behind a balancer may answer with an older head than the receipt's block.
  const depth = head.number < blockNumber ? 1n : head.number - blockNumber + 1n;
  const isFinal =
    finalized === null ? depth >= FINAL_AFTER_TIMES * BigInt(chain.confirmations) : finalized.number >= blockNumber;
  return { confirmations: Number(depth), isFinal };
}
