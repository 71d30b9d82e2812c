import { bitcoinClient } from '#chains/bitcoin/chain-client.ts';
import type { ChainClient } from '#chains/chain-client.ts';
import type { ChainRules } from '#chains/chain-rules.ts';
import type { RpcSettings } from '#chains/clients/rpc-urls.ts';
import { rpcEntries, rpcUrlsOf } from '#chains/clients/rpc-urls.ts';
import { evmClient } from '#chains/evm/chain-client.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import { solanaClient } from '#chains/solana/chain-client.ts';
import type { Chain, ChainFamily } from '#domain/asset/chain.ts';

const CLIENTS: Readonly<Record<ChainFamily, (rules: ChainRules, rpcUrls: readonly string[]) => ChainClient>> = {
  evm: evmClient,
  solana: solanaClient,
  bitcoin: bitcoinClient,
};

/**
 * Returns a new client of a chain with the RPC nodes that the operator configured; null without
 * any. A request or a job makes it once. Throws as `rpcUrlsOf` does.
 */
export function chainClientFor(env: RpcSettings, chain: Chain): ChainClient | null {
  const urls = rpcUrlsOf(env, chain.name);
  return urls === null ? null : clientFor(chain, urls);
}

/**
 * Returns `chainClientFor` for a job that reads several chains: it makes the client of each chain
 * once.
 */
export function chainClients(env: RpcSettings): (chain: Chain) => ChainClient | null {
  const clients = new Map<string, ChainClient | null>();
  return (chain) => {
    const client = clients.get(chain.name) ?? chainClientFor(env, chain);
    clients.set(chain.name, client);
    return client;
  };
}

/**
 * Returns a new client of a chain.
 *
 * @param rpcUrls RPC nodes in order of preference; without any, each call reports that no node is
 * configured
 */
export function clientFor(chain: Chain, rpcUrls: readonly string[]): ChainClient {
  return CLIENTS[chain.family](rulesFor(chain), rpcUrls);
}

/**
 * Returns the names of chains with only one RPC node: conclusions about their payments depend on
 * that node alone.
 */
export function chainsWithOneNode(env: RpcSettings): readonly string[] {
  return rpcEntries(env).flatMap(({ chain, hosts }) => (hosts.length === 1 ? [chain] : []));
}

/** Reports whether a chain has only one RPC node. Throws as `rpcUrlsOf` does. */
export function hasOneNode(env: RpcSettings, chain: string): boolean {
  return rpcUrlsOf(env, chain)?.length === 1;
}

/** Returns those of some chains for which RPC_URLS has no usable entry. Throws as `rpcEntries`. */
export function chainsWithoutNode(env: RpcSettings, chains: readonly string[]): readonly string[] {
  const served = new Set(rpcEntries(env).flatMap(({ chain, hosts }) => (hosts.length === 0 ? [] : [chain])));
  return chains.filter((chain) => !served.has(chain));
}
