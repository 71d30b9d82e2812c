import { createTestClient, http, publicActions, walletActions } from 'viem';
import { anvil } from 'viem/chains';

/**
 * Moves the chain in a test. It caches nothing: a block number that is even 20 ms old may be
 * another block's.
 */
export function anvilClient(url: string) {
  const options = { mode: 'anvil', chain: anvil, transport: http(url), pollingInterval: 20, cacheTime: 0 } as const;
  return createTestClient(options).extend(publicActions).extend(walletActions);
}
