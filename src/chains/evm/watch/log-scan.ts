import type { BlockRange, LogTopics } from '#chains/evm/client/log-calls.ts';
import { getLogTransactionHashes, getLogTransactionHashesInBlock } from '#chains/evm/client/log-calls.ts';
import { getBlock } from '#chains/evm/client/rpc-calls.ts';
import { DEPOSIT, TRANSFER, TRANSFER_BATCH, TRANSFER_SINGLE, WITHDRAWAL } from '#chains/evm/rules/transfer-topics.ts';
import { word } from '#chains/evm/rules/hex.ts';
import type { ScanMemory } from '#chains/chain-client.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * The numbers of blocks in one query. Logs are indexed, so 2,000 blocks are one fast call, and many
 * providers allow no more at once.
 */
const SIZES = [2_000n, 1_000n, 500n, 250n, 125n, 62n, 31n, 15n, 7n, 3n, 1n] as const;
const SMALLEST = SIZES.length - 1;

/** So many refusals of a size that never had an answer show a limit of the provider. Ours. */
const REFUSALS_OF_A_LIMIT = 3;

/** The code of JSON-RPC for a method that the RPC node does not have. */
const NO_SUCH_METHOD = -32601;
/** So many first blocks without an answer show that it has none for any block. Ours. */
const MAX_UNREAD_FIRST = 50;

/** What the logs of a range show. */
export interface LogScan {
  readonly hashes: readonly string[];
  /** The number of blocks whose logs the RPC node does not show. */
  readonly unread: number;
}

interface LogScanOptions {
  readonly address: string;
  /** Of the RPC node, for this chain. */
  readonly name: string;
  /**
   * The size that each node answered in the last scan: a provider may allow ten blocks, and would
   * otherwise refuse the first queries of each scan. Each scan tries the next larger size again,
   * because a stranger's logs or a slow hour may have been the reason.
   */
  readonly answered: ScanMemory;
}

/**
 * Returns the transactions whose logs move tokens from or to an address. A range that the RPC node
 * refuses is halved, and one block that it refuses is read by its receipts. So no number of logs
 * that strangers make ends a scan.
 */
export async function scanLogs(
  node: RpcNode,
  { address, name, answered }: LogScanOptions,
  { from, to }: BlockRange,
): Promise<Result<LogScan, NodeProblem>> {
  const queries = queriesFor(address);
  const hashes = new Set<string>();
  const [refusals, worked] = [new Map<number, number>(), new Set<number>()];
  let ceiling = Math.max((answered.get(name) ?? 0) - 1, 0);
  let [start, at, unread] = [from, ceiling, 0];
  while (start <= to) {
    const end = start + (SIZES[at] ?? 1n) - 1n;
    const range = { from: start, to: end < to ? end : to };
    const found = await hashesIn(node, queries, range);
    if (found.ok) {
      for (const hash of found.value) hashes.add(hash);
      start = range.to + 1n;
      worked.add(at);
      // A single block with many logs must not slow the rest down.
      at = Math.max(at - 1, ceiling);
      continue;
    }
    if (!(await mayBeSmaller(node, found.refusal))) return found;
    if (at < SMALLEST) {
      const times = (refusals.get(at) ?? 0) + 1;
      refusals.set(at, times);
      at += 1;
      if (times >= REFUSALS_OF_A_LIMIT && !worked.has(at - 1)) ceiling = Math.max(ceiling, at);
      continue;
    }
    const whole = await node.request(getLogTransactionHashesInBlock(start, queries));
    if (!whole.ok && whole.refusal.kind === 'no-answer' && whole.refusal.because !== 'too-long') return whole;
    if (whole.ok) for (const hash of whole.value) hashes.add(hash);
    else if (isMissing(found.refusal) && worked.size === 0 && unread >= MAX_UNREAD_FIRST) return found;
    else unread += 1;
    start += 1n;
    at = Math.max(at - 1, ceiling);
  }
  if (worked.size > 0) answered.set(name, Math.min(...worked));
  return accepted({ hashes: [...hashes], unread });
}

/** Returns the queries that together match each log of a movement from or to an address. */
function queriesFor(address: string): readonly LogTopics[] {
  const party = `0x${word(BigInt(address))}`;
  return [
    [[TRANSFER, DEPOSIT, WITHDRAWAL], party],
    // The recipient of an ERC-20 or ERC-721 token, and the sender of an ERC-1155 one.
    [[TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH], null, party],
    [[TRANSFER_SINGLE, TRANSFER_BATCH], null, null, party],
  ];
}

async function hashesIn(
  node: RpcNode,
  queries: readonly LogTopics[],
  range: BlockRange,
): Promise<Result<readonly string[], NodeProblem>> {
  const hashes: string[] = [];
  for (const topics of queries) {
    const found = await node.request(getLogTransactionHashes(range, topics));
    if (!found.ok) return found;
    hashes.push(...found.value);
  }
  return accepted(hashes);
}

function isMissing(problem: NodeProblem): boolean {
  return problem.kind === 'error-answer' && problem.code === NO_SUCH_METHOD;
}

/**
 * Reports whether a smaller query may succeed: the RPC node refused, its answer was too long, or it
 * did not answer this query although it answers others.
 */
async function mayBeSmaller(node: RpcNode, problem: NodeProblem): Promise<boolean> {
  if (problem.kind !== 'no-answer' || problem.because === 'too-long') return true;
  return problem.because === 'time-out' && (await node.request(getBlock('latest'))).ok;
}
