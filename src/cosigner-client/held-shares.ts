import * as z from 'zod';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';

const heldShares = z.array(
  z.object({
    epoch: z.int(),
    isActive: z.boolean(),
    /** The same at every node that was dealt its share together with this one. */
    statement: z.string(),
    publicShares: z.record(z.string(), z.string()),
    /** Of nodes the signature that they have stored their share: the node's own, and of what it uses those of all. */
    receipts: z.record(z.string(), z.string()),
  }),
);

/** The shares of one key that a node has, in use or waiting, the newest last. */
export type HeldShares = z.infer<typeof heldShares>;

/** As the node says itself. A node without the key has none. */
export async function sharesHeldBy(
  cosigner: CosignerClient,
  keyId: string,
): Promise<Result<HeldShares, CosignerFault>> {
  const answer = await cosigner.call(`key/${keyId}/shares`, {});
  if (!answer.ok) return answer;
  const shares = heldShares.safeParse(answer.value);
  if (shares.success) return accepted(shares.data);
  return refused({
    cosigner: cosigner.index,
    code: 'unreachable',
    detail: 'answered something else',
    culprit: cosigner.index,
  });
}
