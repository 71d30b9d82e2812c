import type { TransferBody } from '#cli/api-client.ts';
import type { Person } from '#local/stack/provision.ts';

/** Enough to keep workerd busy. More connections only make its queue longer. */
export const CONNECTIONS = 16;

/** Creates transfers of one unit, alternating between the positions. */
export async function createTransfers(
  person: Person,
  positions: readonly Pick<TransferBody, 'vaultId' | 'chain' | 'to'>[],
  count: number,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let next = 0;
  const creators = Array.from({ length: CONNECTIONS }, async () => {
    while (next < count) {
      const position = positions[next % positions.length];
      next += 1;
      if (position === undefined) throw new Error('transfers need a place');
      const { id } = await person.client.transfer({ ...position, amount: '1' });
      ids.push(id);
    }
  });
  await Promise.all(creators);
  return ids;
}
