import { looked, preparation } from '#chains/answers.ts';
import { readActivity } from '#chains/bitcoin/activity.ts';
import { parseAddress } from '#chains/bitcoin/address.ts';
import { assembleMessage, assembleTransaction } from '#chains/bitcoin/assemble.ts';
import { bitcoinFleet } from '#chains/bitcoin/bitcoin-fleet.ts';
import { broadcastSigned } from '#chains/bitcoin/broadcast.ts';
import { composeMessage, composeTransaction } from '#chains/bitcoin/compose.ts';
import { estimateFee } from '#chains/bitcoin/estimate.ts';
import { paysByHash, readEvidence } from '#chains/bitcoin/evidence.ts';
import { readAgreedHoldings, readHoldings } from '#chains/bitcoin/holdings.ts';
import { readMessage } from '#chains/bitcoin/message.ts';
import { networkOf } from '#chains/bitcoin/network.ts';
import { observeTransaction } from '#chains/bitcoin/observe.ts';
import type { BitcoinQuote } from '#chains/bitcoin/quote.ts';
import { quoteTransfer } from '#chains/bitcoin/quote.ts';
import { scanNetwork } from '#chains/bitcoin/scan.ts';
import { MOST_SATOSHI } from '#chains/bitcoin/terms.ts';
import type {
  BitcoinFeeEstimate,
  ChainAdapter,
  ChainFault,
  Holdings,
  Observation,
  Scan,
  TokenMetadata,
} from '#chains/chain-adapter.ts';
import { onFirstFitNode } from '#chains/fleet.ts';
import type { ChainTransaction } from '#domain/activity.ts';
import type { Chain } from '#domain/chain.ts';
import { accepted, refused } from '#domain/result.ts';

/** Payments on their way at once: each holds coins, and what is beyond waits for its turn. Ours. */
const MOST_IN_FLIGHT = 25;

/** A network of Bitcoin, behind the interface that all chains share. */
export function bitcoinAdapter(
  chain: Chain,
  urls: readonly string[],
): ChainAdapter<BitcoinQuote, bigint, BitcoinFeeEstimate> {
  const network = networkOf(chain.caip2);
  if (network === null) throw new Error(`${chain.caip2} is no network of Bitcoin that is known here`);
  const fleet = bitcoinFleet(network, urls);
  return {
    chain,
    largestAmount: MOST_SATOSHI,
    kinds: ['transfer', 'message'],
    mostInFlight: MOST_IN_FLIGHT,
    paysWithCoins: true,
    parseRecipient: (text) => parseAddress(network, text),
    // There is nothing but bitcoin.
    parseToken: () => refused('malformed' as const),
    parseCalldata: () => null,
    parseMessage: readMessage,
    // Coins are what the bytes hang on, and they come with the quote.
    anchor: async ({ nonce }) => accepted(nonce),
    compose: composeTransaction,
    assemble: assembleTransaction,
    composeMessage,
    assembleMessage,
    quote: async (intent, replaced, taken = new Set()) =>
      preparation(await onFirstFitNode(fleet, (node) => quoteTransfer(node, chain, { intent, replaced, taken }))),
    estimate: async (intent) => preparation(await onFirstFitNode(fleet, (node) => estimateFee(node, intent))),
    // Places are counted by the wallet's allocator alone; the chain has no order of them.
    evidence: async (payload) =>
      paysByHash(payload)
        ? looked(await onFirstFitNode<readonly string[], never>(fleet, (node) => readEvidence(node, payload)))
        : accepted<readonly string[]>([]),
    accountNonce: async () => accepted({ latest: 0n, pending: 0n }),
    broadcast: (raw, hash) => broadcastSigned(fleet, raw, hash),
    activity: async (hash, found) =>
      looked(
        await onFirstFitNode<ChainTransaction | null, never>(fleet, (node) =>
          readActivity(node, chain, { hash, found }),
        ),
      ),
    scan: async (address, since) =>
      looked(
        await onFirstFitNode<Scan, never>(fleet, (node) =>
          scanNetwork(node, { address, since: since === null ? null : BigInt(since) }),
        ),
      ),
    holdings: async (address, assets, isDoubted) =>
      looked(
        isDoubted
          ? await readAgreedHoldings(fleet, chain, { address, assets })
          : await onFirstFitNode<Holdings, never>(fleet, (node) => readHoldings(node, chain, { address, assets })),
      ),
    token: async () => accepted<TokenMetadata>({ symbol: null, name: null, decimals: null }),
    priceFeed: async () => refused<ChainFault>({ detail: 'no feeds are read on Bitcoin' }),
    observe: async (watched) =>
      looked(await onFirstFitNode<Observation, never>(fleet, (node) => observeTransaction(node, chain, watched))),
  };
}
