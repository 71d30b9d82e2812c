import * as z from 'zod';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';

/** Ours: a co-signer has one share in use, and one for each dealing that was not completed. */
const MAX_SHARES = 100;

const heldShares = z
  .array(
    z.object({
      epoch: z.int(),
      isActive: z.boolean(),
      /** Equal on every co-signer whose share is from the same dealing. */
      statement: z.string(),
      publicShares: z.record(z.string(), z.string()),
      /**
       * Signatures of co-signers that they have stored their share: the co-signer's own, and for
       * the share in use those of all.
       */
      receipts: z.record(z.string(), z.string()),
    }),
  )
  .max(MAX_SHARES);

/** The shares of one key that a co-signer has, in use or waiting, the newest last. */
export type HeldShares = z.infer<typeof heldShares>;

/** A co-signer with the shares that it reports. */
export interface HoldingCosigner {
  readonly cosigner: CosignerClient;
  readonly shares: HeldShares;
}

/** One dealing, as enough co-signers describe it that one of them is honest. */
export interface AgreedShares {
  readonly epoch: number;
  readonly statement: string;
  readonly publicShares: HeldShares[number]['publicShares'];
  /** The numbers of the co-signers that describe it like this and use it. */
  readonly users: readonly number[];
}

/**
 * Returns the dealings that at least `threshold` co-signers describe alike, the newest last. What a
 * single co-signer reports is no fact: it could name an epoch so large that no other one follows,
 * or leave the shares of the others out.
 */
export function agreedShares(holding: readonly HoldingCosigner[], threshold: number): readonly AgreedShares[] {
  const described = holding.flatMap(({ cosigner: { index }, shares }) => shares.map((share) => ({ index, share })));
  const alike = Map.groupBy(described, ({ share: { epoch, statement, publicShares } }) =>
    JSON.stringify([epoch, statement, Object.entries(publicShares).toSorted(([a], [b]) => (a < b ? -1 : 1))]),
  );
  return [...alike.values()]
    .flatMap((same) => {
      const [first] = same;
      if (first === undefined || new Set(same.map(({ index }) => index)).size < threshold) return [];
      const { epoch, statement, publicShares } = first.share;
      const users = same.filter(({ share }) => share.isActive).map(({ index }) => index);
      return [{ epoch, statement, publicShares, users: [...new Set(users)] }];
    })
    .toSorted((a, b) => a.epoch - b.epoch);
}

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
