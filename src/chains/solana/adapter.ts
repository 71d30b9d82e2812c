import { readHoldings } from '#chains/agreed-holdings.ts';
import { observeWithQuorum } from '#chains/agreed-observation.ts';
import type { ChainAdapter, ChainFault, SolanaFeeEstimate } from '#chains/chain-adapter.ts';
import { readFromPool, prepareFromPool } from '#chains/answers.ts';
import { readActivity } from '#chains/solana/activity.ts';
import { parseMint, parseRecipient, parseWallet } from '#chains/solana/address.ts';
import { currentNonce } from '#chains/solana/anchor.ts';
import { assembleMessage, assembleTransaction } from '#chains/solana/assemble.ts';
import { broadcastSigned } from '#chains/solana/broadcast.ts';
import type { CurrentNonce } from '#chains/solana/compose.ts';
import { composeMessage, composeTransaction } from '#chains/solana/compose.ts';
import { estimateFee } from '#chains/solana/estimate.ts';
import { holdingsOn } from '#chains/solana/holdings.ts';
import { memoFault } from '#chains/solana/memo.ts';
import { readMessage } from '#chains/solana/message.ts';
import { observeTransaction } from '#chains/solana/observe.ts';
import { UINT64_MAX } from '#chains/solana/payload.ts';
import type { SolanaQuote } from '#chains/solana/quote.ts';
import { quoteTransfer } from '#chains/solana/quote.ts';
import { scanCluster } from '#chains/solana/scan.ts';
import { solanaNodePool } from '#chains/solana/solana-fleet.ts';
import { NONCE_SLOTS } from '#chains/solana/terms.ts';
import { readToken } from '#chains/solana/token.ts';
import { simulatedByQuote } from '#chains/simulation.ts';
import type { Chain } from '#domain/chain.ts';
import { accepted, refused } from '#domain/result.ts';

/** A cluster of Solana, behind the interface that all chains share. */
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
    // A call names its accounts, and there is no place for them in calldata.
    parseCalldata: () => null,
    parseMessage: readMessage,
    memoFault,
    anchor: (place) => readFromPool(pool, (node) => currentNonce(node, place)),
    compose: composeTransaction,
    assemble: assembleTransaction,
    composeMessage,
    assembleMessage,
    quote: (intent, replaced, { speed = 'normal' } = {}) =>
      prepareFromPool(pool, (node) => quoteTransfer(node, intent, { replaced, speed })),
    simulate: async (intent) =>
      simulatedByQuote(
        intent,
        await prepareFromPool(pool, (node) => quoteTransfer(node, intent, { replaced: null, speed: 'normal' })),
      ),
    estimate: (intent) => prepareFromPool(pool, (node) => estimateFee(node, intent)),
    // Places are counted by the wallet's allocator alone; the chain has no order of them.
    evidence: async () => accepted<readonly string[]>([]),
    accountNonce: async () => accepted({ latest: 0n, pending: 0n }),
    broadcast: (raw, hash) => broadcastSigned(pool, raw, hash),
    activity: (hash, found) => readFromPool(pool, (node) => readActivity(node, chain, { hash, found })),
    scan: (address, since) =>
      readFromPool(pool, (node) => scanCluster(node, { address, since: since === null ? null : BigInt(since) })),
    holdings: (address, assets, requiresProof) => readHoldings(pool, { address, assets, requiresProof }, holdingsOn),
    token: (address) => readFromPool(pool, (node) => readToken(node, address)),
    priceFeed: async () => refused<ChainFault>({ detail: 'no feeds are read on Solana' }),
    observe: (watched) =>
      observeWithQuorum(pool, { chain, watched }, (node, asked) => observeTransaction(node, chain, asked)),
  };
}
