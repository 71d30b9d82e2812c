import type { EvmQuote } from '#chains/evm/rules/compose.ts';
import { activityFromPool } from '#chains/rpc/activity-quorum.ts';
import { readHoldings } from '#chains/rpc/holdings-quorum.ts';
import { probePool } from '#chains/rpc/node-probe.ts';
import { observeWithQuorum } from '#chains/rpc/observation-quorum.ts';
import {
  agreedFromPool,
  readFromPool,
  prepareFromPool,
  provenHead,
  quoteFromPool,
  sameStatement,
} from '#chains/rpc/node-fallback.ts';
import { otherNodes } from '#chains/rpc/node-pool.ts';
import type { ChainClient, EvmFeeEstimate } from '#chains/chain-client.ts';
import type { ChainRules } from '#chains/chain-rules.ts';
import { accountNonce, provenNonce } from '#chains/evm/client/account-nonce.ts';
import { readActivity } from '#chains/evm/watch/activity.ts';
import { provenByBalances } from '#chains/evm/watch/balance-proof.ts';
import { broadcastSigned } from '#chains/evm/watch/broadcast.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import { estimateFee } from '#chains/evm/client/estimate.ts';
import { holdingsOn } from '#chains/evm/watch/holdings.ts';
import { contractsAmong } from '#chains/evm/client/contracts.ts';
import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import { BLOCK_CALLS } from '#chains/evm/client/block-calls.ts';
import { evmNodePool } from '#chains/evm/client/node-pool.ts';
import { observeTransaction } from '#chains/evm/watch/observe.ts';
import { readFeed } from '#chains/evm/client/price-feed.ts';
import { scanChain } from '#chains/evm/watch/scan.ts';
import { readToken } from '#chains/evm/client/token.ts';
import { nodeAbilities } from '#chains/evm/client/node-abilities.ts';
import { simulateCall } from '#chains/evm/watch/simulate.ts';
import { quoteTransaction } from '#chains/evm/client/quote.ts';
import { accepted } from '#domain/result.ts';

/** Returns the client of an EVM chain with EIP-1559 fees. */
export function evmClient(
  rules: ChainRules<EvmQuote, bigint>,
  rpcUrls: readonly string[],
): ChainClient<EvmQuote, bigint, EvmFeeEstimate> {
  const { chain } = rules;
  const chainId = chainIdOf(chain.caip2);
  if (chainId === null) throw new Error(`${chain.caip2} is not an EVM chain.`);
  const pool = evmNodePool(chainId, rpcUrls);
  return {
    chain,
    rules,
    anchor: async ({ nonce }) => accepted(nonce),
    quote: (intent, replaced, { speed = 'normal', notBefore = 0n } = {}) =>
      quoteFromPool(pool, notBefore, (node) =>
        quoteTransaction(node, intent, { chain, replaced, speed, others: otherNodes(pool, node) }),
      ),
    estimate: (intent) => prepareFromPool(pool, (node) => estimateFee(node, intent, chain)),
    simulate: (intent) => readFromPool(pool, (node) => simulateCall(node, intent, chain)),
    contracts: (addresses) => readFromPool(pool, (node) => contractsAmong(node, addresses)),
    evidence: async () => accepted<readonly string[]>([]),
    accountNonce: (address, requiresProof = false) =>
      requiresProof ? provenNonce(pool, chain, address) : accountNonce(pool, address),
    provenHead: () => provenHead(pool, chain, BLOCK_CALLS.getHead),
    probe: () => probePool(pool, chain, { ...BLOCK_CALLS, abilities: nodeAbilities }),
    broadcast: (raw, hash) => broadcastSigned(pool, raw, hash),
    provenClaim: async ({ hash, claim, block, signer, fee, movements }, wallets) => {
      if (claim === undefined || block === null) return [];
      const claimed = { hash, claim, block, signer, movements, fee: fee === null ? 0n : unitsOf(fee) };
      return (await Promise.all(wallets.map((one) => provenByBalances(pool, claimed, one)))).flat();
    },
    activity: (hash, found) => activityFromPool(pool, found, (node) => readActivity(node, chain, { hash, found })),
    scan: (address, since, { memory = new Map() } = {}) => {
      const start = since === null ? null : BigInt(since);
      return readFromPool(pool, (node) => scanChain(node, { address, since: start, caip2: chain.caip2, memory }));
    },
    holdings: (address, assets, requiresProof) =>
      readHoldings(pool, { address, assets, requiresProof }, (node, query) => holdingsOn(node, chain, query)),
    token: (address) => agreedFromPool(pool, (node) => readToken(node, address), sameStatement),
    priceFeed: (address) => agreedFromPool(pool, (node) => readFeed(node, address), sameStatement),
    observe: (watched) =>
      observeWithQuorum(
        pool,
        {
          chain,
          watched,
          prove: ({ hash, blockNumber, blockHash, feePaid, movements }, claim) => {
            const block = { number: blockNumber, hash: blockHash };
            const claimed = { hash, claim, block, signer: watched.from, fee: unitsOf(feePaid), movements };
            return provenByBalances(pool, claimed, watched.from);
          },
        },
        (node, request) => observeTransaction(node, chain, request),
      ),
  };
}
