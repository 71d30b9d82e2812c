import type { FeeRates } from '#chains/bitcoin/rules/fee-rate.ts';
import { activityFromPool } from '#chains/rpc/activity-quorum.ts';
import { readHoldings } from '#chains/rpc/holdings-quorum.ts';
import { probePool } from '#chains/rpc/node-probe.ts';
import { observeWithQuorum } from '#chains/rpc/observation-quorum.ts';
import { readFromPool, prepareFromPool, provenHead } from '#chains/rpc/node-fallback.ts';
import { readActivity } from '#chains/bitcoin/watch/activity.ts';
import { BLOCK_CALLS } from '#chains/bitcoin/client/rpc-calls.ts';
import { bitcoinNodePool } from '#chains/bitcoin/client/node-pool.ts';
import { broadcastSigned } from '#chains/bitcoin/watch/broadcast.ts';
import { proofServers } from '#chains/bitcoin/client/utxo-proof.ts';
import { estimateFee } from '#chains/bitcoin/client/estimate.ts';
import { paysByHash, readEvidence } from '#chains/bitcoin/client/parent-evidence.ts';
import { readFeeRates } from '#chains/bitcoin/client/fee-rates.ts';
import { holdingsOn } from '#chains/bitcoin/watch/holdings.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { observeTransaction } from '#chains/bitcoin/watch/observe.ts';
import type { BitcoinQuote } from '#chains/bitcoin/rules/compose.ts';
import type { QuoteFault } from '#chains/bitcoin/client/quote.ts';
import { quoteTransfer } from '#chains/bitcoin/client/quote.ts';
import { listUtxos } from '#chains/bitcoin/watch/utxo-list.ts';
import { scanServers } from '#chains/bitcoin/watch/scan.ts';
import type { BitcoinFeeEstimate, ChainClient, TokenMetadata } from '#chains/chain-client.ts';
import type { ChainFault, ChainRules } from '#chains/chain-rules.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { simulatedByQuote } from '#chains/simulation.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

type Client = ChainClient<BitcoinQuote, bigint, BitcoinFeeEstimate>;

const NONE: ReadonlySet<string> = new Set();

/** Returns the client of a Bitcoin network. */
export function bitcoinClient(rules: ChainRules<BitcoinQuote, bigint>, urls: readonly string[]): Client {
  const { chain } = rules;
  const network = networkOf(chain.caip2);
  if (network === null) throw new Error(`${chain.caip2} is not a known Bitcoin network.`);
  const pool = bitcoinNodePool(network, urls);
  // A fee rate is no fact of the chain, so it may come from another server than the UTXOs.
  const withRates = async <T>(quote: (node: RpcNode, rates: FeeRates) => Promise<Result<T, QuoteFault>>) => {
    const rates = await readFeeRates(pool, chain);
    return prepareFromPool(pool, async (node): Promise<Result<T, QuoteFault>> =>
      rates.ok ? quote(node, rates.value) : rates,
    );
  };
  const quote: Client['quote'] = (intent, replaced, options = {}) => {
    const { taken = NONE, locked = NONE, speed = 'normal', joins = 0, includeMayCarryMore = false } = options;
    const request = { intent, replaced, taken, locked, speed, joins, includeMayCarryMore };
    return withRates((node, rates) => quoteTransfer(proofServers(pool, node), chain, { ...request, rates }));
  };
  return {
    chain,
    rules,
    // The bytes depend on the UTXOs, which come with the quote.
    anchor: async ({ nonce }) => accepted(nonce),
    quote,
    simulate: async (intent, locked = NONE) => simulatedByQuote(intent, await quote(intent, null, { locked })),
    estimate: (intent, locked = NONE) => withRates((node, rates) => estimateFee(node, intent, { rates, locked })),
    utxos: (address) => listUtxos(pool, { chain, network, address }),
    contracts: async () => accepted<readonly string[]>([]),
    evidence: async (payload) =>
      paysByHash(payload) ? readFromPool(pool, (node) => readEvidence(node, payload)) : accepted<readonly string[]>([]),
    // Only the wallet's allocator counts nonces; the chain does not order them.
    accountNonce: async () => accepted({ latest: 0n, pending: 0n }),
    provenHead: () => provenHead(pool, chain, BLOCK_CALLS.getHead),
    probe: () => probePool(pool, chain, BLOCK_CALLS),
    broadcast: (raw, hash) => broadcastSigned(pool, raw, hash),
    provenClaim: async () => [],
    activity: (hash, found) => activityFromPool(pool, found, (node) => readActivity(node, chain, { hash, found })),
    scan: (address, since) => scanServers(pool, chain, { address, since: since === null ? null : BigInt(since) }),
    holdings: (address, assets, requiresProof) =>
      readHoldings(pool, { address, assets, requiresProof }, (node, query) => holdingsOn(node, chain, query)),
    token: async () => accepted<TokenMetadata>({ symbol: null, name: null, decimals: null }),
    priceFeed: async () => refused<ChainFault>({ detail: 'Price feeds are not supported on Bitcoin.' }),
    observe: (watched) =>
      observeWithQuorum(pool, { chain, watched }, (node, request) => observeTransaction(node, chain, request)),
  };
}
