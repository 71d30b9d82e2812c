import { adapterFor } from '#chains/adapters.ts';
import type { ChainAdapter } from '#chains/chain-adapter.ts';
import type { Chain } from '#domain/asset/chain.ts';

/**
 * Returns the adapter of a chain with the RPC nodes that the operator configured; null without any.
 * Throws for a setting that is not JSON of chain names and lists of URLs.
 */
export function chainClientFor(env: { readonly RPC_URLS: string }, chain: Chain): ChainAdapter | null {
  const urls: unknown = settingOf(env).get(chain.name);
  if (urls === undefined) return null;
  if (!isUrlList(urls)) throw new Error(`RPC_URLS: ${chain.name} must have a list of URLs.`);
  return adapterFor(chain, urls);
}

/**
 * Returns the names of chains with only one RPC node: conclusions about their payments depend on
 * that node alone.
 */
export function chainsWithOneNode(env: { readonly RPC_URLS: string }): readonly string[] {
  return [...settingOf(env)].flatMap(([name, urls]) => (Array.isArray(urls) && urls.length === 1 ? [name] : []));
}

function settingOf(env: { readonly RPC_URLS: string }): ReadonlyMap<string, unknown> {
  const setting: unknown = JSON.parse(env.RPC_URLS);
  if (typeof setting !== 'object' || setting === null) throw new Error('RPC_URLS must be an object of lists of URLs.');
  return new Map<string, unknown>(Object.entries(setting));
}

function isUrlList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((url) => typeof url === 'string' && URL.canParse(url));
}
