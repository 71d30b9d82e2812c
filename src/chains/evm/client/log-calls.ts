import type { Hex } from 'viem';
import { ANSWER_FIELDS, tagOf } from '#chains/evm/client/rpc-calls.ts';
import { parseHash } from '#chains/evm/rules/hex.ts';
import type { RpcCall } from '#chains/rpc/json-rpc.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

/** Blocks, both ends included. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** The topics of a query; null matches any topic. */
export type LogTopics = readonly (string | readonly string[] | null)[];

/**
 * What providers say of a range or a result that is too large with the code of a rate limit: Infura
 * ('query returned more than 10000 results'), Besu, and public nodes of BSC ('limit exceeded').
 */
const SIZE_WORDS = /results|range|limit exceeded|response size/i;
/** A rate limit counts requests, credits or time. */
const RATE_WORDS = /\brate\b|requests? (?:count|limit)|per (?:second|minute|day)|credits|capacity|quota|daily|monthly/i;

/** Returns the hashes of the transactions with a log of these topics. */
export const getLogTransactionHashes = (range: BlockRange, topics: LogTopics): RpcCall<readonly Hex[]> => ({
  method: 'eth_getLogs',
  params: [{ fromBlock: tagOf(range.from), toBlock: tagOf(range.to), topics }],
  requestsLess: (message) => SIZE_WORDS.test(message) && !RATE_WORDS.test(message),
  read: (answer) => {
    if (!Array.isArray(answer)) return undefined;
    const rows: readonly unknown[] = answer;
    return rows.flatMap((row) => (isJsonObject(row) ? (parseHash(row['transactionHash']) ?? []) : []));
  },
});

/**
 * Returns the same for one block, from its receipts: a stranger can put more logs into a block than
 * a provider returns at once.
 */
export const getLogTransactionHashesInBlock = (
  number: bigint,
  queries: readonly LogTopics[],
): RpcCall<readonly Hex[]> => ({
  method: 'eth_getBlockReceipts',
  params: [tagOf(number)],
  pruning: {
    keeps: new Set([...ANSWER_FIELDS, 'transactionHash', 'logs', 'topics']),
    keptItem: (item, list) => (list !== 'logs' || matches(item, queries) ? item : undefined),
  },
  read: (answer) => {
    if (!Array.isArray(answer)) return undefined;
    const rows: readonly unknown[] = answer;
    return rows.flatMap((row) => {
      const logs: readonly unknown[] = isJsonObject(row) && Array.isArray(row['logs']) ? row['logs'] : [];
      const hash = isJsonObject(row) ? parseHash(row['transactionHash']) : null;
      return hash !== null && logs.some((log) => matches(log, queries)) ? [hash] : [];
    });
  },
});

function matches(log: unknown, queries: readonly LogTopics[]): boolean {
  const topics: readonly unknown[] = isJsonObject(log) && Array.isArray(log['topics']) ? log['topics'] : [];
  const has = (query: LogTopics[number], at: number) => {
    const topic = parseHash(topics[at]);
    return query === null ? topic !== null : topic !== null && [query].flat().includes(topic);
  };
  return queries.some((query) => query.every(has));
}
