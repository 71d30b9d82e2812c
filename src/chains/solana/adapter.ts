import type {
  ChainAdapter,
  ChainFault,
  Holdings,
  Observation,
  Scan,
  SolanaFeeEstimate,
  TokenMetadata,
} from '#chains/chain-adapter.ts';
import { looked, preparation } from '#chains/answers.ts';
import { onFirstFitNode } from '#chains/fleet.ts';
import { readActivity } from '#chains/solana/activity.ts';
import { parseMint, parseWallet } from '#chains/solana/address.ts';
import { anchorNow } from '#chains/solana/anchor.ts';
import { assembleMessage, assembleTransaction } from '#chains/solana/assemble.ts';
import { broadcastSigned } from '#chains/solana/broadcast.ts';
import type { AnchorNow } from '#chains/solana/compose.ts';
import { composeMessage, composeTransaction } from '#chains/solana/compose.ts';
import { estimateFee } from '#chains/solana/estimate.ts';
import { readAgreedHoldings, readHoldings } from '#chains/solana/holdings.ts';
import { readMessage } from '#chains/solana/message.ts';
import { observeTransaction } from '#chains/solana/observe.ts';
import { UINT64_MAX } from '#chains/solana/payload.ts';
import type { SolanaQuote } from '#chains/solana/quote.ts';
import { quoteTransfer } from '#chains/solana/quote.ts';
import { scanCluster } from '#chains/solana/scan.ts';
import { solanaFleet } from '#chains/solana/solana-fleet.ts';
import { PLACES } from '#chains/solana/terms.ts';
import { readToken } from '#chains/solana/token.ts';
import type { ChainTransaction } from '#domain/activity.ts';
import type { Chain } from '#domain/chain.ts';
import { accepted, refused } from '#domain/result.ts';

/** A cluster of Solana, behind the interface that all chains share. */
export function solanaAdapter(
  chain: Chain,
  rpcUrls: readonly string[],
): ChainAdapter<SolanaQuote, AnchorNow, SolanaFeeEstimate> {
  const fleet = solanaFleet(chain.caip2, rpcUrls);
  return {
    chain,
    largestAmount: UINT64_MAX,
    kinds: ['transfer', 'message'],
    mostInFlight: PLACES,
    paysWithCoins: false,
    parseRecipient: parseWallet,
    parseToken: parseMint,
    // A call names its accounts, and there is no place for them in calldata.
    parseCalldata: () => null,
    parseMessage: readMessage,
    anchor: async (place) => looked(await onFirstFitNode<AnchorNow, never>(fleet, (node) => anchorNow(node, place))),
    compose: composeTransaction,
    assemble: assembleTransaction,
    composeMessage,
    assembleMessage,
    quote: async (intent, replaced) =>
      preparation(await onFirstFitNode(fleet, (node) => quoteTransfer(node, intent, replaced))),
    estimate: async (intent) => preparation(await onFirstFitNode(fleet, (node) => estimateFee(node, intent))),
    // Places are counted by the wallet's allocator alone; the chain has no order of them.
    evidence: async () => accepted<readonly string[]>([]),
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
          scanCluster(node, { address, since: since === null ? null : BigInt(since) }),
        ),
      ),
    holdings: async (address, assets, isDoubted) =>
      looked(
        isDoubted
          ? await readAgreedHoldings(fleet, { address, assets })
          : await onFirstFitNode<Holdings, never>(fleet, (node) => readHoldings(node, { address, assets })),
      ),
    token: async (address) =>
      looked(await onFirstFitNode<TokenMetadata, never>(fleet, (node) => readToken(node, address))),
    priceFeed: async () => refused<ChainFault>({ detail: 'no feeds are read on Solana' }),
    observe: async (watched) =>
      looked(await onFirstFitNode<Observation, never>(fleet, (node) => observeTransaction(node, chain, watched))),
  };
}
