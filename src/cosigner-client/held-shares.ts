import * as z from 'zod';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';

const heldShares = z.array(
  z.object({
    epoch: z.int(),
    isActive: z.boolean(),
    /** Equal on every co-signer whose share is from the same dealing. */
    statement: z.string(),
    publicShares: z.record(z.string(), z.string()),
    /**
     * Signatures of co-signers that they have stored their share: the co-signer's own, and for the
     * share in use those of all.
     */
    receipts: z.record(z.string(), z.string()),
  }),
);

/** The shares of one key that a co-signer has, in use or waiting, the newest last. */
export type HeldShares = z.infer<typeof heldShares>;

/** Returns the shares that the co-signer itself reports. A co-signer without the key has none. */
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
