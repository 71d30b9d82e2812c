import { looked, preparation } from '#chains/answers.ts';
import type {
  AccountNonce,
  ChainAdapter,
  EvmFeeEstimate,
  Holdings,
  Observation,
  Scan,
  TokenMetadata,
} from '#chains/chain-adapter.ts';
import { readActivity } from '#chains/evm/activity.ts';
import { parseAddress } from '#chains/evm/address.ts';
import { assembleTransaction } from '#chains/evm/assemble.ts';
import { broadcastSigned } from '#chains/evm/broadcast.ts';
import { isCalldata } from '#chains/evm/call.ts';
import { composeMessage, composeTransaction } from '#chains/evm/compose.ts';
import { estimateFee } from '#chains/evm/estimate.ts';
import { onFirstFitNode } from '#chains/fleet.ts';
import { readAgreedHoldings, readHoldings } from '#chains/evm/holdings.ts';
import { assembleMessage, readMessage } from '#chains/evm/message.ts';
import { chainIdOf } from '#chains/evm/chain-id.ts';
import { evmFleet } from '#chains/evm/evm-fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import { observeTransaction } from '#chains/evm/observe.ts';
import { readFeed } from '#chains/evm/price-feed.ts';
import { askNonce } from '#chains/evm/question.ts';
import { scanChain } from '#chains/evm/scan.ts';
import { readToken } from '#chains/evm/token.ts';
import type { EvmQuote } from '#chains/evm/quote.ts';
import { quoteTransaction } from '#chains/evm/quote.ts';
import { UINT256_MAX } from '#domain/amount.ts';
import type { ChainTransaction } from '#domain/activity.ts';
import type { Chain } from '#domain/chain.ts';
import type { FeedRound } from '#domain/price.ts';
import { accepted } from '#domain/result.ts';

/** Any EVM chain with EIP-1559 fees, behind the interface that all chains share. */
export function evmAdapter(chain: Chain, rpcUrls: readonly string[]): ChainAdapter<EvmQuote, bigint, EvmFeeEstimate> {
  const chainId = chainIdOf(chain.caip2);
  if (chainId === null) throw new Error(`${chain.caip2} is no EVM chain`);
  const fleet = evmFleet(chainId, rpcUrls);
  return {
    chain,
    largestAmount: UINT256_MAX,
    kinds: ['transfer', 'contract-interaction', 'erc20-approve', 'message'],
    mostInFlight: null,
    paysWithCoins: false,
    parseRecipient: parseAddress,
    parseToken: parseAddress,
    parseCalldata,
    parseMessage: (text) => readMessage(chain.caip2, text),
    anchor: async ({ nonce }) => accepted(nonce),
    compose: composeTransaction,
    assemble: assembleTransaction,
    composeMessage,
    assembleMessage,
    quote: async (intent, replaced) =>
      preparation(await onFirstFitNode(fleet, (node) => quoteTransaction(node, intent, replaced))),
    estimate: async (intent) => preparation(await onFirstFitNode(fleet, (node) => estimateFee(node, intent))),
    evidence: async () => accepted<readonly string[]>([]),
    accountNonce: async (address) =>
      looked(await onFirstFitNode<AccountNonce, never>(fleet, (node) => accountNonce(node, address))),
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
          scanChain(node, { address, since: since === null ? null : BigInt(since) }),
        ),
      ),
    holdings: async (address, assets, isDoubted) =>
      looked(
        isDoubted
          ? await readAgreedHoldings(fleet, chain, { address, assets })
          : await onFirstFitNode<Holdings, never>(fleet, (node) => readHoldings(node, chain, { address, assets })),
      ),
    token: async (address) =>
      looked(await onFirstFitNode<TokenMetadata, never>(fleet, (node) => readToken(node, address))),
    priceFeed: async (address) =>
      looked(await onFirstFitNode<FeedRound, never>(fleet, (node) => readFeed(node, address))),
    observe: async (watched) =>
      looked(await onFirstFitNode<Observation, never>(fleet, (node) => observeTransaction(node, chain, watched))),
  };
}

/** Upper-case digits are lowered; the one spelling is stored. */
function parseCalldata(text: string): string | null {
  const lower = text.startsWith('0x') ? text.toLowerCase() : text;
  return isCalldata(lower) ? lower : null;
}

async function accountNonce(node: RpcNode, address: string) {
  const [latest, pending] = await Promise.all([
    node.ask(askNonce(address, 'latest')),
    node.ask(askNonce(address, 'pending')),
  ]);
  if (!latest.ok) return latest;
  return pending.ok ? accepted({ latest: latest.value, pending: pending.value }) : pending;
}
