import type { Status } from '#chains/solana/client/rpc-calls.ts';
import type { Chain } from '#domain/asset/chain.ts';

/**
 * The maximum depth of a transaction that is not beyond every fork, however many blocks follow it.
 */
const MAX_UNROOTED = 31n;

/**
 * Returns the depth of a transaction.
 *
 * @param head the newest slot at the commitment that the transaction requires
 */
export function depthOf(
  { slot, commitment }: Status,
  head: bigint,
  chain: Pick<Chain, 'confirmations'>,
): { readonly confirmations: number; readonly isFinal: boolean } {
  const isFinal = commitment === 'finalized';
  const since = head < slot ? 1n : head - slot + 1n;
  const counted = isFinal || since < MAX_UNROOTED ? since : MAX_UNROOTED;
  const confirmations = Number.parseInt(counted.toString(), 10);
  return { confirmations: isFinal ? Math.max(confirmations, chain.confirmations) : confirmations, isFinal };
}
