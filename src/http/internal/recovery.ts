import * as z from 'zod';
import type { HttpContext } from '#http/context.ts';
import { route } from '#http/context.ts';
import { noSuchVault, vaultOfPath } from '#http/internal/vault.ts';
import { askObject } from '#http/object-call.ts';
import { cosignersOf } from '#nodes/cosigner-client.ts';

const text = z.string();
const packageSchema = z.looseObject({ version: text, keyId: text, node: z.int(), ciphertext: text });

const recoverySchema = z
  .strictObject({
    packages: z.array(packageSchema),
    missing: z.array(z.strictObject({ keyId: text, node: z.int(), reason: text })),
  })
  .meta({ id: 'RecoveryPackages' });

/**
 * GET /internal/vault/{vaultId}/recovery (ours): of every key of a vault each co-signer's share, sealed for the offline key that it has
 * pinned: to be kept apart, and opened nowhere but on a machine without a network (`npm run recover`). What a node does not give is named.
 *
 * Refuses, in order: the service key, `vault-not-found`.
 */
export const readRecovery = route({
  method: 'GET',
  path: '/internal/vault/:vaultId/recovery',
  access: 'service',
  summary: "each co-signer's share of the keys, sealed for the offline key",
  answer: { status: 200, schema: recoverySchema },
  refuses: ['vault-not-found'],
  handle: read,
});

async function read(context: HttpContext): Promise<Response> {
  const object = vaultOfPath(context);
  const vault = object === null ? null : await askObject(object, (stub) => stub.describe());
  if (vault === null) return noSuchVault(context);
  const packages: z.infer<typeof packageSchema>[] = [];
  const missing: { readonly keyId: string; readonly node: number; readonly reason: string }[] = [];
  for (const node of cosignersOf(context.env)) {
    for (const { keyId, publicShares } of vault.keys) {
      if (!(String(node.index) in publicShares)) continue;
      const answer = await node.call(`key/${keyId}/recovery`, {});
      const sealed = answer.ok ? packageSchema.safeParse(answer.value) : null;
      if (sealed?.success === true) packages.push(sealed.data);
      else missing.push({ keyId, node: node.index, reason: answer.ok ? 'unreadable' : answer.refusal.code });
    }
  }
  return context.json({ packages, missing });
}
