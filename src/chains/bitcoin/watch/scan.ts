import type { Scan } from '#chains/chain-client.ts';
import type { ChainTransfer } from '#chains/bitcoin/client/rpc-calls.ts';
import { getConfirmedTransactions, getTip, PAGE } from '#chains/bitcoin/client/rpc-calls.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** A day: the range without a start block. */
const RECENT_BLOCKS = 144n;
/** Older pages are scanned after these are processed. */
const MAX_PAGES = 20;

/**
 * Scans for every confirmed transaction that concerns a wallet. It returns only hashes; their
 * movements are read as for any hint.
 */
export async function scanNetwork(
  node: RpcNode,
  { address, since }: { readonly address: string; readonly since: bigint | null },
): Promise<Result<Scan, NodeProblem>> {
  const tip = await node.request(getTip);
  if (!tip.ok) return tip;
  const least = tip.value < RECENT_BLOCKS ? 0n : tip.value - RECENT_BLOCKS;
  let from = since === null ? least : since + 1n;
  const hashes: string[] = [];
  let last: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const history: Result<readonly ChainTransfer[], NodeProblem> = await node.request(
      getConfirmedTransactions(address, last),
    );
    if (!history.ok) return history;
    const recent = history.value.filter(({ block }) => block !== null && block.height >= from);
    hashes.push(...recent.map(({ hash }) => hash));
    if (history.value.length < PAGE || recent.length < history.value.length) break;
    const oldest = history.value.at(-1);
    last = oldest?.hash ?? null;
    // The scan did not cover blocks before the last page.
    if (page === MAX_PAGES - 1) from = oldest?.block?.height ?? from;
  }
  const range = { fromBlock: from.toString(), toBlock: tip.value.toString() };
  return accepted({ hashes, tokens: range, payments: range, untraced: 0 });
}
