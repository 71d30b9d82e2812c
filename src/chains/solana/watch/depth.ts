import type { Status } from '#chains/solana/client/rpc-calls.ts';
import type { Chain } from '#domain/asset/chain.ts';

/** What is not beyond every fork counts less than that, however many blocks came after it. */
const MAX_UNROOTED = 31n;

/** How deep a transaction is. @param head the newest slot that is as sure as the transaction is asked to be */
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
