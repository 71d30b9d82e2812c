import type { TransferBody } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import type { Person } from '#local/stack/provision.ts';

/** Enough to keep workerd busy. More connections only make its queue longer. */
export const CONNECTIONS = 16;

export const MESSAGE = 'I am the owner of this wallet.';

/**
 * Creates messages, alternating between the positions. They need no RPC node, so the service is
 * measured and not the node.
 */
export async function createMessages(
  { client }: Person,
  positions: readonly Pick<TransferBody, 'vaultId' | 'chain'>[],
  count: number,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let next = 0;
  const creators = Array.from({ length: CONNECTIONS }, async () => {
    while (next < count) {
      const position = positions[next % positions.length];
      next += 1;
      if (position === undefined) throw new Error('messages need a vault');
      const json = { ...position, message: MESSAGE };
      ids.push((await unwrap(client.api.transaction.message.$post({ json }))).id);
    }
  });
  await Promise.all(creators);
  return ids;
}
