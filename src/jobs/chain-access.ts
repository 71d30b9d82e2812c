import { adapterFor } from '#chains/adapters.ts';
import type { ChainAdapter } from '#chains/chain-adapter.ts';
import type { Chain } from '#domain/chain.ts';
import * as z from 'zod';

const rpcUrls = z.record(z.string(), z.array(z.url()).min(1));

/** The adapter of a chain with the nodes that the operator configured for it; null when there is none. */
export function chainAccess(env: { readonly RPC_URLS: string }, chain: Chain): ChainAdapter | null {
  const urls = rpcUrls.parse(JSON.parse(env.RPC_URLS))[chain.name];
  return urls === undefined ? null : adapterFor(chain, urls);
}
