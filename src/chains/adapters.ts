import type { ChainAdapter } from '#chains/chain-adapter.ts';
import { bitcoinAdapter } from '#chains/bitcoin/adapter.ts';
import { evmAdapter } from '#chains/evm/adapter.ts';
import { solanaAdapter } from '#chains/solana/adapter.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { unreachable } from '#domain/result.ts';

/**
 * Returns the adapter of a chain.
 *
 * @param rpcUrls RPC nodes in order of preference; without any, everything but the pure part
 * answers that no node is configured
 */
export function adapterFor(chain: Chain, rpcUrls: readonly string[]): ChainAdapter {
  switch (chain.family) {
    case 'evm':
      return evmAdapter(chain, rpcUrls);
    case 'solana':
      return solanaAdapter(chain, rpcUrls);
    case 'bitcoin':
      return bitcoinAdapter(chain, rpcUrls);
    default:
      return unreachable(chain.family);
  }
}
