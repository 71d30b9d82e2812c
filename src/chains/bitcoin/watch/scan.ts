import type { Scan } from '#chains/chain-adapter.ts';
import type { ChainTransfer } from '#chains/bitcoin/client/rpc-calls.ts';
import { getConfirmedTransactions, getTip, PAGE } from '#chains/bitcoin/client/rpc-calls.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** A day: without a place to begin. */
const RECENT_BLOCKS = 144n;
/** Beyond these it is asked again after they are worked on. */
const MAX_PAGES = 20;

/** Looks for everything in a block that concerns a wallet. What is found is only a hash; what it moved is read as for any hint. */
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
    // What is older than the last page was not looked for.
    if (page === MAX_PAGES - 1) from = oldest?.block?.height ?? from;
  }
  const range = { fromBlock: from.toString(), toBlock: tip.value.toString() };
  return accepted({ hashes, tokens: range, payments: range, untraced: 0 });
}
