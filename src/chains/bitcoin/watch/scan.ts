import type { Scan } from '#chains/chain-client.ts';
import type { WalletTransfer } from '#chains/bitcoin/client/rpc-calls.ts';
import { getConfirmedTransactions, getTip, PAGE } from '#chains/bitcoin/client/rpc-calls.ts';
import type { ChainFault } from '#chains/chain-rules.ts';
import { asChainFault } from '#chains/rpc/node-fallback.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { NO_NODE, onEveryNode } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { maxLagBlocks } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** A day: the range without a start block. */
const RECENT_BLOCKS = 144n;
/** Older pages are scanned after these are processed. */
const MAX_PAGES = 20;

interface ScanRequest {
  readonly address: string;
  readonly since: bigint | null;
}

/**
 * Scans all servers, because one of them may not list a payment. The range is that of the first one
 * that answers, without blocks that another one does not have yet.
 */
export async function scanServers(
  pool: NodePool,
  chain: Chain,
  request: ScanRequest,
): Promise<Result<Scan, ChainFault>> {
  const answers = await onEveryNode(pool, (node) => scanNetwork(node, request));
  const scans = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const [first] = scans;
  if (first === undefined) return asChainFault(answers[0] ?? refused(NO_NODE));
  const head = BigInt(first.payments.toBlock);
  const lags = scans.map(({ payments }) => head - BigInt(payments.toBlock));
  // A server that is further behind cannot shorten the range for ever.
  const lag = lags.filter((one) => one <= maxLagBlocks(chain)).reduce((most, one) => (one > most ? one : most), 0n);
  const range = { ...first.payments, toBlock: (head - lag).toString() };
  const hashes = [...new Set(scans.flatMap((scan) => scan.hashes))];
  return accepted({ ...first, hashes, tokens: range, payments: range });
}

/**
 * Scans for every confirmed transaction that concerns a wallet. It returns only hashes; their
 * movements are read as for any hint.
 */
async function scanNetwork(node: RpcNode, { address, since }: ScanRequest): Promise<Result<Scan, NodeProblem>> {
  const tip = await node.request(getTip);
  if (!tip.ok) return tip;
  const least = tip.value < RECENT_BLOCKS ? 0n : tip.value - RECENT_BLOCKS;
  const requested = { fromBlock: (since === null ? least : since + 1n).toString(), toBlock: tip.value.toString() };
  let from = BigInt(requested.fromBlock);
  const hashes: string[] = [];
  let last: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const history: Result<readonly WalletTransfer[], NodeProblem> = await node.request(
      getConfirmedTransactions(address, last),
    );
    if (!history.ok) return history;
    const recent = history.value.filter(({ block }) => block !== null && block.height >= from);
    hashes.push(...recent.map(({ hash }) => hash));
    if (history.value.length < PAGE || recent.length < history.value.length) break;
    const oldest = history.value.at(-1);
    last = oldest?.hash ?? null;
    // The scan did not cover blocks before the last page, which may end within a block.
    if (page === MAX_PAGES - 1) from = (oldest?.block?.height ?? from) + 1n;
  }
  const range = { ...requested, fromBlock: from.toString() };
  return accepted({ hashes, requested, tokens: range, payments: range, untraced: 0 });
}
