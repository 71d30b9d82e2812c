import type { ActivityBlock } from '#domain/activity/activity.ts';
import type { Chain } from '#domain/asset/chain.ts';

/** The block of a transaction; null while it is unconfirmed. */
export type BlockRef = { readonly height: bigint; readonly hash: string } | null;

/**
 * The depth that counts as beyond any reorg, by common convention; Bitcoin has no other finality.
 */
const FINAL_DEPTH = 6;

/**
 * Returns the depth of a block.
 *
 * @param tip the newest height
 */
export function depthOf(
  { height, hash }: NonNullable<BlockRef>,
  tip: bigint,
  chain: Pick<Chain, 'confirmations'>,
): ActivityBlock {
  const depth = tip < height ? 1n : tip - height + 1n;
  const confirmations = Number.parseInt(depth.toString(), 10);
  return { number: height.toString(), hash, confirmations, isFinal: confirmations >= finalDepth(chain) };
}

/** Returns the newest height that counts as beyond any reorg; 0 while none does. */
export function finalHeight(tip: bigint, chain: Pick<Chain, 'confirmations'>): bigint {
  const depth = BigInt(finalDepth(chain));
  return tip < depth ? 0n : tip - depth + 1n;
}

function finalDepth({ confirmations }: Pick<Chain, 'confirmations'>): number {
  return Math.max(FINAL_DEPTH, confirmations);
}
