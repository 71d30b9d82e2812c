import { activityFromPool } from '#chains/rpc/activity-quorum.ts';
import { readHoldings } from '#chains/rpc/holdings-quorum.ts';
import { observeWithQuorum } from '#chains/rpc/observation-quorum.ts';
import type { ChainAdapter, ChainFault, SolanaFeeEstimate } from '#chains/chain-adapter.ts';
import { agreedFromPool, readFromPool, prepareFromPool, provenHead, quoteFromPool } from '#chains/rpc/node-fallback.ts';
import { readActivity } from '#chains/solana/watch/activity.ts';
import { parseMint, parseRecipient, parseWallet } from '#chains/solana/rules/address.ts';
import { currentNonce, joinedNonce } from '#chains/solana/client/durable-nonce.ts';
import { assembleMessage, assembleTransaction } from '#chains/solana/rules/assemble.ts';
import { broadcastSigned } from '#chains/solana/watch/broadcast.ts';
import type { CurrentNonce } from '#chains/solana/rules/compose.ts';
import { composeMessage, composeTransaction } from '#chains/solana/rules/compose.ts';
import { estimateFee } from '#chains/solana/client/estimate.ts';
import { holdingsOn } from '#chains/solana/watch/holdings.ts';
import { memoFault } from '#chains/solana/rules/memo.ts';
import { readMessage } from '#chains/solana/rules/message.ts';
import { observeTransaction } from '#chains/solana/watch/observe.ts';
import { UINT64_MAX } from '#chains/solana/rules/payload.ts';
import type { SolanaQuote } from '#chains/solana/client/quote.ts';
import { quoteTransfer } from '#chains/solana/client/quote.ts';
import { scanCluster } from '#chains/solana/watch/scan.ts';
import { BLOCK_CALLS } from '#chains/solana/client/rpc-calls.ts';
import { solanaNodePool } from '#chains/solana/client/node-pool.ts';
import { NONCE_SLOTS } from '#chains/solana/rules/payment-terms.ts';
import { readToken } from '#chains/solana/client/token.ts';
import { simulatedByQuote } from '#chains/inspect/simulation.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { accepted, refused } from '#domain/result.ts';

/** Returns the adapter of a Solana cluster. */
export function solanaAdapter(
  chain: Chain,
  rpcUrls: readonly string[],
): ChainAdapter<SolanaQuote, CurrentNonce, SolanaFeeEstimate> {
  const pool = solanaNodePool(chain.caip2, rpcUrls);
  return {
    chain,
    largestAmount: UINT64_MAX,
    kinds: ['transfer', 'message'],
    maxInFlight: NONCE_SLOTS,
    spendsUtxos: false,
    parseRecipient: parseWallet,
    parseKeylessRecipient: (text) => {
      const recipient = parseRecipient(text);
      return recipient.ok && recipient.value.mayHaveNoKey ? recipient.value.address : null;
    },
    parseToken: parseMint,
    // A call needs its accounts, which calldata cannot hold.
    parseCalldata: () => null,
    parseMessage: readMessage,
    memoFault,
    anchor: (slot) => agreedFromPool(pool, (node) => currentNonce(node, slot), joinedNonce),
    compose: composeTransaction,
    assemble: assembleTransaction,
    composeMessage,
    assembleMessage,
    quote: (intent, replaced, { speed = 'normal', notBefore = 0n } = {}) =>
      quoteFromPool(pool, notBefore, (node) => quoteTransfer(node, intent, { replaced, speed })),
    simulate: async (intent) =>
      simulatedByQuote(
        intent,
        await prepareFromPool(pool, (node) => quoteTransfer(node, intent, { replaced: null, speed: 'normal' })),
      ),
    estimate: (intent) => prepareFromPool(pool, (node) => estimateFee(node, intent)),
    evidence: async () => accepted<readonly string[]>([]),
    // Only the wallet's allocator counts nonce slots; the chain does not order them.
    accountNonce: async () => accepted({ latest: 0n, pending: 0n }),
    provenHead: () => provenHead(pool, chain, BLOCK_CALLS.getHead),
    broadcast: (raw, hash) => broadcastSigned(pool, raw, hash),
    activity: (hash, found) => activityFromPool(pool, found, (node) => readActivity(node, chain, { hash, found })),
    scan: (address, since) =>
      readFromPool(pool, (node) => scanCluster(node, { address, since: since === null ? null : BigInt(since) })),
    holdings: (address, assets, requiresProof) => readHoldings(pool, { address, assets, requiresProof }, holdingsOn),
    token: (address) => readFromPool(pool, (node) => readToken(node, address)),
    priceFeed: async () => refused<ChainFault>({ detail: 'Price feeds are not supported on Solana.' }),
    observe: (watched) =>
      observeWithQuorum(pool, { chain, watched }, (node, request) => observeTransaction(node, chain, request)),
  };
}
