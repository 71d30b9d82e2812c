import { bitcoinClient } from '#chains/bitcoin/chain-client.ts';
import type { ChainClient } from '#chains/chain-client.ts';
import type { ChainRules } from '#chains/chain-rules.ts';
import { evmClient } from '#chains/evm/chain-client.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import { solanaClient } from '#chains/solana/chain-client.ts';
import type { Chain, ChainFamily } from '#domain/asset/chain.ts';
import { parseJsonSetting } from '#domain/json-setting.ts';

const CLIENTS: Readonly<Record<ChainFamily, (rules: ChainRules, rpcUrls: readonly string[]) => ChainClient>> = {
  evm: evmClient,
  solana: solanaClient,
  bitcoin: bitcoinClient,
};

/**
 * Returns a new client of a chain with the RPC nodes that the operator configured; null without
 * any. A request or a job makes it once. Throws for a setting that is not JSON of chain names and
 * lists of URLs.
 */
export function chainClientFor(env: { readonly RPC_URLS: string }, chain: Chain): ChainClient | null {
  const urls: unknown = settingOf(env).get(chain.name);
  if (urls === undefined) return null;
  if (!isUrlList(urls)) throw new Error(`RPC_URLS: ${chain.name} must have a list of URLs.`);
  return clientFor(chain, urls);
}

/**
 * Returns `chainClientFor` for a job that reads several chains: it makes the client of each chain
 * once.
 */
export function chainClients(env: { readonly RPC_URLS: string }): (chain: Chain) => ChainClient | null {
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
export function chainsWithOneNode(env: { readonly RPC_URLS: string }): readonly string[] {
  return [...settingOf(env)].flatMap(([name, urls]) => (Array.isArray(urls) && urls.length === 1 ? [name] : []));
}

function settingOf(env: { readonly RPC_URLS: string }): ReadonlyMap<string, unknown> {
  const setting = parseJsonSetting('RPC_URLS', env.RPC_URLS);
  if (typeof setting !== 'object' || setting === null) throw new Error('RPC_URLS must be an object of lists of URLs.');
  return new Map<string, unknown>(Object.entries(setting));
}

function isUrlList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((url) => typeof url === 'string' && URL.canParse(url));
}
