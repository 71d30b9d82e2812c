import type { Hex } from 'viem';
import { createTestClient, publicActions, walletActions } from 'viem';
import { anvil } from 'viem/chains';
import { minedReceipt } from '#local/evm/receipt.ts';
import { localTransport } from '#local/evm/transport.ts';

/**
 * Returns a client that controls the chain in a test. It caches nothing, because a block number
 * that is 20 ms old may be of another block.
 */
export function anvilClient(url: string) {
  const options = {
    mode: 'anvil',
    chain: anvil,
    transport: localTransport(url),
    pollingInterval: 20,
    cacheTime: 0,
  } as const;
  return createTestClient(options)
    .extend(publicActions)
    .extend(walletActions)
    .extend((client) => ({ mined: (hash: Hex) => minedReceipt(client, hash) }));
}
