import * as z from 'zod';
import type { ExportList } from '#domain/policy/export-list.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';

/** A list of exports, signed by its co-signer. */
export const exportListSchema = z.strictObject({
  keyId: z.string(),
  node: z.int(),
  nonce: z.string(),
  exports: z.array(z.strictObject({ seq: z.int(), atMs: z.int(), epoch: z.int(), recoveryKey: z.string() })),
  signature: z.string().meta({ description: 'Hex: Ed25519 by the identity of the co-signer' }),
});

export type SignedExportList = ExportList & { readonly signature: string };

/**
 * Returns the exports of a key that a co-signer recorded, signed over `nonce`. The reader must
 * verify the signature.
 */
export async function exportListOf(
  cosigner: CosignerClient,
  keyId: string,
  nonce: string,
): Promise<Result<SignedExportList, CosignerFault>> {
  const answer = await cosigner.call(`key/${keyId}/exports`, { nonce });
  if (!answer.ok) return answer;
  const list = exportListSchema.safeParse(answer.value);
  if (list.success) return accepted(list.data);
  return refused({
    cosigner: cosigner.index,
    code: 'unreachable',
    detail: 'answered something else',
    culprit: cosigner.index,
  });
}
