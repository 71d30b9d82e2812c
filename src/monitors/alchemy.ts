import { isJsonObject } from '#domain/json/untrusted-json.ts';
import { isHexDigest, isHexHmac } from '#monitors/hmac.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { field, items } from '#monitors/monitor.ts';
import type { NetworkNames } from '#monitors/networks.ts';
import { chainNamed, chainsByName } from '#monitors/networks.ts';
import { EMPTY_REPORT, kindOf, reportOf } from '#monitors/report.ts';

/** Alchemy's names of chains, as `ETH_MAINNET` in deliveries and as `eth-mainnet` elsewhere. */
const NAMES: NetworkNames = {
  ethereum: ['eth-mainnet'],
  base: ['base-mainnet'],
  arbitrum: ['arb-mainnet'],
  optimism: ['opt-mainnet'],
  polygon: ['matic-mainnet', 'polygon-mainnet'],
  bsc: ['bnb-mainnet'],
  avalanche: ['avax-mainnet'],
  linea: ['linea-mainnet'],
  scroll: ['scroll-mainnet'],
  gnosis: ['gnosis-mainnet'],
  unichain: ['unichain-mainnet'],
  plasma: ['plasma-mainnet'],
  hyperevm: ['hyperliquid-mainnet'],
  'ethereum-sepolia': ['eth-sepolia'],
  'base-sepolia': ['base-sepolia'],
  solana: ['solana-mainnet'],
  'solana-devnet': ['solana-devnet'],
  // Alchemy Notify does not serve Bitcoin.
  bitcoin: [],
  'bitcoin-testnet4': [],
  'bitcoin-signet': [],
};
const CHAINS = chainsByName(NAMES);

/** Testnets that have ended. Alchemy's samples, which it sends as tests, still name them. */
const ENDED = /_(?:GOERLI|MUMBAI|RINKEBY|KOVAN|ROPSTEN)$/;

/** The lists in the block of a custom webhook. */
const BLOCK_LISTS = ['logs', 'transactions', 'callTracerTraces'];

/**
 * Alchemy Notify: hex HMAC-SHA256 over the raw body, keyed with the signing key as displayed. The
 * scheme has no time, so a repeated delivery is detected by its bytes. Address and NFT activity is
 * a list in `event.activity`; on Solana, and for mined and dropped transactions, it is
 * `event.transaction`. Custom webhooks (GRAPHQL) have a block. `event.error` in place of activity
 * means that something was omitted.
 */
export const alchemy: Monitor = {
  checkHeaders(header, secrets) {
    const signature = header('x-alchemy-signature');
    return isHexDigest(signature) ? (body) => isHexHmac(signature, secrets, body) : null;
  },
  read(body) {
    const event = field(body, 'event');
    const network = field(event, 'network');
    const chain = chainNamed(CHAINS, network);
    if (chain === undefined && typeof network === 'string' && ENDED.test(network)) return EMPTY_REPORT;
    const isOmitted = field(event, 'error') !== undefined;
    const kind = kindOf(body, field(body, 'type'), network);
    const rows = rowsIn(event) ?? (isOmitted ? [] : [field(event, 'data') ?? event ?? body]);
    // A network without a name is reported even when nothing has happened on it.
    const isNamed = chain !== undefined || isOmitted;
    const entries = isNamed || rows.length > 0 ? rows : [event];
    return {
      ...reportOf(entries.map((row) => ({ chain, row, kind }))),
      // The delivery contains the monitor's own text, which is not logged, because it is external
      // input.
      alarm: isOmitted ? 'The delivery omits activity.' : null,
    };
  },
};

/** Returns the rows of all lists in an event; null when it has none. */
function rowsIn(event: unknown): readonly unknown[] | null {
  const transaction = field(event, 'transaction');
  const block = field(field(event, 'data'), 'block');
  const lists = [
    field(event, 'activity'),
    isJsonObject(transaction) ? [transaction] : transaction,
    ...BLOCK_LISTS.map((name) => field(block, name)),
  ].filter((list) => Array.isArray(list));
  return lists.length === 0 ? null : lists.flatMap(items);
}
