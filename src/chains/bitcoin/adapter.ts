import { readHoldings } from '#chains/agreed-holdings.ts';
import { observeOnAll } from '#chains/agreed-observation.ts';
import { look, prepare } from '#chains/answers.ts';
import { readActivity } from '#chains/bitcoin/activity.ts';
import { parseAddress } from '#chains/bitcoin/address.ts';
import { assembleMessage, assembleTransaction } from '#chains/bitcoin/assemble.ts';
import { bitcoinFleet } from '#chains/bitcoin/bitcoin-fleet.ts';
import { broadcastSigned } from '#chains/bitcoin/broadcast.ts';
import { witnessesOf } from '#chains/bitcoin/coin-proof.ts';
import { composeMessage, composeTransaction } from '#chains/bitcoin/compose.ts';
import { estimateFee } from '#chains/bitcoin/estimate.ts';
import { paysByHash, readEvidence } from '#chains/bitcoin/evidence.ts';
import { holdingsOn } from '#chains/bitcoin/holdings.ts';
import { readMessage } from '#chains/bitcoin/message.ts';
import { networkOf } from '#chains/bitcoin/network.ts';
import { observeTransaction } from '#chains/bitcoin/observe.ts';
import type { BitcoinQuote } from '#chains/bitcoin/quote.ts';
import { quoteTransfer } from '#chains/bitcoin/quote.ts';
import { scanNetwork } from '#chains/bitcoin/scan.ts';
import { MOST_SATOSHI } from '#chains/bitcoin/terms.ts';
import type { BitcoinFeeEstimate, ChainAdapter, ChainFault, TokenMetadata } from '#chains/chain-adapter.ts';
import { simulatedByQuote } from '#chains/simulation.ts';
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
    quote: async (intent, replaced, { taken = new Set<string>(), speed = 'normal' } = {}) =>
      prepare(fleet, (node) => quoteTransfer(witnessesOf(fleet, node), chain, { intent, replaced, taken, speed })),
    simulate: async (intent) =>
      simulatedByQuote(
        intent,
        await prepare(fleet, (node) =>
          quoteTransfer(witnessesOf(fleet, node), chain, { intent, replaced: null, taken: new Set(), speed: 'normal' }),
        ),
      ),
    estimate: (intent) => prepare(fleet, (node) => estimateFee(node, intent)),
    evidence: async (payload) =>
      paysByHash(payload) ? look(fleet, (node) => readEvidence(node, payload)) : accepted<readonly string[]>([]),
    // Places are counted by the wallet's allocator alone; the chain has no order of them.
    accountNonce: async () => accepted({ latest: 0n, pending: 0n }),
    broadcast: (raw, hash) => broadcastSigned(fleet, raw, hash),
    activity: (hash, found) => look(fleet, (node) => readActivity(node, chain, { hash, found })),
    scan: (address, since) =>
      look(fleet, (node) => scanNetwork(node, { address, since: since === null ? null : BigInt(since) })),
    holdings: (address, assets, isDoubted) =>
      readHoldings(fleet, { address, assets, isDoubted }, (node, question) => holdingsOn(node, chain, question)),
    token: async () => accepted<TokenMetadata>({ symbol: null, name: null, decimals: null }),
    priceFeed: async () => refused<ChainFault>({ detail: 'no feeds are read on Bitcoin' }),
    observe: (watched) =>
      observeOnAll(fleet, { chain, watched }, (node, asked) => observeTransaction(node, chain, asked)),
  };
}
