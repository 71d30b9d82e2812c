import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { isHexDigest, isHexHmac } from '#monitors/hmac.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { field, isRecent, items } from '#monitors/monitor.ts';
import type { NetworkNames } from '#monitors/networks.ts';
import { chainNamed, chainOfHexId, chainsByName } from '#monitors/networks.ts';
import type { Entry } from '#monitors/report.ts';
import { EMPTY_REPORT, isCaip2, kindOf, reportOf } from '#monitors/report.ts';

/** QuickNode's names of chains, of Streams, of Webhooks and of the older QuickAlerts. */
const NAMES: NetworkNames = {
  ethereum: ['ethereum-mainnet'],
  base: ['base-mainnet'],
  arbitrum: ['arbitrum-mainnet'],
  optimism: ['optimism-mainnet'],
  polygon: ['polygon-mainnet', 'matic-mainnet'],
  bsc: ['bnbchain-mainnet', 'bsc-mainnet'],
  avalanche: ['avalanche-mainnet', 'avalanchec-mainnet'],
  linea: ['linea-mainnet'],
  scroll: ['scroll-mainnet'],
  gnosis: ['gnosis-mainnet', 'xdai-mainnet'],
  unichain: ['unichain-mainnet'],
  plasma: ['plasma-mainnet'],
  hyperevm: ['hyperliquid-mainnet', 'hype-mainnet'],
  'ethereum-sepolia': ['ethereum-sepolia'],
  'base-sepolia': ['base-sepolia'],
  solana: ['solana-mainnet'],
  'solana-devnet': ['solana-devnet'],
  bitcoin: ['bitcoin-mainnet'],
  'bitcoin-testnet4': ['bitcoin-testnet4'],
  // QuickNode does not serve signet.
  'bitcoin-signet': [],
};
const CHAINS = chainsByName(NAMES);

/** The lists in a block. `tx` is that of a Bitcoin block. */
const LISTS = ['transactions', 'receipts', 'events', 'logs', 'matchingTransactions', 'matchingReceipts', 'tx'] as const;

/** What a test of a destination has in one of its fields. */
const TEST = /^(?:ping|test)$/i;

/** Streams with several blocks send lists of lists. */
const MAX_LISTS = 3;

/**
 * QuickNode Streams and Webhooks: hex HMAC-SHA256 over nonce, timestamp and the uncompressed body.
 * The operator's filter returns the body, so it has any form. This monitor reads `{ network,
 * transactions: [{ hash }] }` (Solana: `signature`, Bitcoin: `txid`), alone or in a list, which the
 * wallet templates give, and the same with `events` or `receipts` in place of `transactions`.
 * `network` is QuickNode's name or CAIP-2, of the block, of a row, or in `metadata`; the rows of
 * EVM transactions also have a chain id.
 */
export const quicknode: Monitor = {
  checkHeaders(header, secrets, nowMs) {
    const [nonce, timestamp] = [header('x-qn-nonce'), header('x-qn-timestamp')];
    const signature = header('x-qn-signature');
    if (nonce === null || !isRecent(timestamp, nowMs) || !isHexDigest(signature)) return null;
    return (body) => isHexHmac(signature, secrets, concatBytes(utf8ToBytes(`${nonce}${timestamp}`), body));
  },
  idHeader: 'x-qn-nonce',
  read(body) {
    if (['message', 'type', 'event'].some((name) => isTest(field(body, name)))) return EMPTY_REPORT;
    const data = field(body, 'data') ?? body;
    const outer = [body, field(body, 'metadata')];
    const blocks = Array.isArray(data) ? data.flat(MAX_LISTS) : [data];
    return reportOf(blocks.flatMap((block: unknown) => entriesOf(block, outer)));
  },
};

function isTest(text: unknown): boolean {
  return typeof text === 'string' && TEST.test(text);
}

/** Returns the rows of a block, or the block as a whole when it has none of the lists. */
function entriesOf(block: unknown, outer: readonly unknown[]): readonly Entry[] {
  const lists = LISTS.map((name) => field(block, name)).filter((list) => Array.isArray(list));
  const rows = lists.length === 0 ? [block] : lists.flatMap(items);
  const entries = rows.map((row) => entryOf(row, [row, block, ...outer]));
  // A network without a name is reported even when nothing has happened on it.
  const empty = entryOf(block, [block, ...outer]);
  return rows.length === 0 && empty.chain === undefined ? [empty] : entries;
}

/** Returns a row with the first network that one of its holders names. */
function entryOf(row: unknown, holders: readonly unknown[]): Entry {
  const names = holders.flatMap((holder) => [field(holder, 'network'), field(holder, 'chain')]);
  const chains = names.flatMap((name) => chainNamed(CHAINS, name) ?? (isCaip2(name) ? name : []));
  const name = names.find((one) => typeof one === 'string');
  return { chain: chains[0] ?? chainOfHexId(field(row, 'chainId')), row, kind: kindOf(holders.at(-2), name) };
}
