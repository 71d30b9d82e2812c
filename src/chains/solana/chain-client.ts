import { activityFromPool } from '#chains/rpc/activity-quorum.ts';
import { readHoldings } from '#chains/rpc/holdings-quorum.ts';
import { probePool } from '#chains/rpc/node-probe.ts';
import { observeWithQuorum } from '#chains/rpc/observation-quorum.ts';
import type { ChainClient, SolanaFeeEstimate } from '#chains/chain-client.ts';
import type { ChainFault, ChainRules } from '#chains/chain-rules.ts';
import {
  agreedFromPool,
  readFromPool,
  prepareFromPool,
  provenHead,
  quoteFromPool,
  sameStatement,
} from '#chains/rpc/node-fallback.ts';
import { readActivity } from '#chains/solana/watch/activity.ts';
import { currentNonce, joinedNonce } from '#chains/solana/client/durable-nonce.ts';
import type { CurrentNonce, SolanaQuote } from '#chains/solana/rules/compose.ts';
import { broadcastSigned } from '#chains/solana/watch/broadcast.ts';
import { estimateFee } from '#chains/solana/client/estimate.ts';
import { holdingsOn } from '#chains/solana/watch/holdings.ts';
import { observeTransaction } from '#chains/solana/watch/observe.ts';
import { quoteTransfer } from '#chains/solana/client/quote.ts';
import { scanCluster } from '#chains/solana/watch/scan.ts';
import { BLOCK_CALLS } from '#chains/solana/client/rpc-calls.ts';
import { solanaNodePool } from '#chains/solana/client/node-pool.ts';
import { readToken } from '#chains/solana/client/token.ts';
import { simulatedByQuote } from '#chains/simulation.ts';
import { accepted, refused } from '#domain/result.ts';

/** Returns the client of a Solana cluster. */
export function solanaClient(
  rules: ChainRules<SolanaQuote, CurrentNonce>,
  rpcUrls: readonly string[],
): ChainClient<SolanaQuote, CurrentNonce, SolanaFeeEstimate> {
  const { chain } = rules;
  const pool = solanaNodePool(chain.caip2, rpcUrls);
  return {
    chain,
    rules,
    anchor: (slot) => agreedFromPool(pool, (node) => currentNonce(node, chain, slot), joinedNonce),
    quote: (intent, replaced, { speed = 'normal', notBefore = 0n } = {}) =>
      quoteFromPool(pool, notBefore, (node) => quoteTransfer(node, intent, { replaced, speed })),
    simulate: async (intent) =>
      simulatedByQuote(
        intent,
        await prepareFromPool(pool, (node) => quoteTransfer(node, intent, { replaced: null, speed: 'normal' })),
      ),
    estimate: (intent) => prepareFromPool(pool, (node) => estimateFee(node, intent)),
    // The quote refuses programs and what belongs to them.
    contracts: async () => accepted<readonly string[]>([]),
    evidence: async () => accepted<readonly string[]>([]),
    // Only the wallet's allocator counts nonce slots; the chain does not order them.
    accountNonce: async () => accepted({ latest: 0n, pending: 0n }),
    provenHead: () => provenHead(pool, chain, BLOCK_CALLS.getHead),
    probe: () => probePool(pool, chain, BLOCK_CALLS),
    broadcast: (raw, hash) => broadcastSigned(pool, raw, hash),
    provenClaim: async () => [],
    activity: (hash, found) => activityFromPool(pool, found, (node) => readActivity(node, chain, { hash, found })),
    scan: (address, since, { tokens = [] } = {}) => {
      const first = [...tokens, ...chain.tokens.map((token) => token.address)];
      const request = { address, since: since === null ? null : BigInt(since), first };
      return readFromPool(pool, (node) => scanCluster(node, request));
    },
    holdings: (address, assets, requiresProof) => readHoldings(pool, { address, assets, requiresProof }, holdingsOn),
    token: (address) => agreedFromPool(pool, (node) => readToken(node, address), sameStatement),
    priceFeed: async () => refused<ChainFault>({ detail: 'Price feeds are not supported on Solana.' }),
    observe: (watched) =>
      observeWithQuorum(pool, { chain, watched }, (node, request) => observeTransaction(node, chain, request)),
  };
}
