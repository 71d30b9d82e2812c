import { http } from 'viem';

/**
 * Returns the transport to a node of this machine. A busy machine takes minutes for thousands of
 * blocks. A request that counts as lost would be sent again, and would mine them twice.
 */
export function localTransport(url: string) {
  return http(url, { timeout: 120_000, retryCount: 0 });
}
