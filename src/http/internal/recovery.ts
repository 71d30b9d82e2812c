import * as z from 'zod';
import type { Vault } from '#domain/vault/vault.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { operatorOf } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { noSuchVault, vaultOf } from '#http/internal/vault.ts';
import { callObject } from '#http/edge/object-call.ts';
import type { PackageRecipient } from '#store/operations/key-exports.ts';
import { storeExport } from '#store/operations/key-exports.ts';
import { cosignersOf } from '#cosigner-client/client.ts';

const text = z.string();
const packageSchema = z.looseObject({
  version: text,
  keyId: text,
  node: z.int(),
  epoch: z.int(),
  recoveryKey: text,
  ciphertext: text,
  signature: text,
});

const recoverySchema = z
  .strictObject({
    packages: z.array(packageSchema),
    missing: z.array(z.strictObject({ keyId: text, node: z.int(), reason: text })),
  })
  .meta({ id: 'RecoveryPackages' });

/**
 * POST /internal/vault/{vaultId}/recovery: exports the share of each co-signer of every key of a
 * vault, encrypted to the offline key that the co-signer pins. Store the response and decrypt it
 * only on a machine without a network (`node cli/conclave.ts recover`). The response lists the
 * packages that co-signers did not return. The history records the export before any co-signer is
 * called, and the members are notified.
 */
export const exportRecovery = route({
  method: 'POST',
  path: '/internal/vault/:vaultId/recovery',
  access: 'service',
  scope: 'recovery',
  summary: 'Export the recovery packages of a vault',
  answer: { status: 200, schema: recoverySchema },
  refuses: ['vault-not-found'],
  handle: exportAll,
});

type Answer = z.infer<typeof recoverySchema>;

async function exportAll(
  context: HttpContext,
  { params: { vaultId } }: OperatorInput<{ params: 'vaultId' }>,
): Promise<Response> {
  const object = vaultOf(context, vaultId);
  const vault = object === null ? null : await callObject(object, (stub) => stub.work({ type: 'describeVault' }));
  if (object === null || vault === null) return noSuchVault(context);
  const startedAtMs = Date.now();
  const requested = { keys: vault.keys.map(({ keyId }) => ({ keyId, givenBy: null })) };
  await callObject(object, (stub) => stub.execute(operatorOf(context), { type: 'recordExport', ...requested }));
  const { packages, missing } = await packagesOf(context, vault);
  const givenBy = (id: string) => packages.filter(({ keyId }) => keyId === id).map(({ node }) => node);
  const exported = { keys: vault.keys.map(({ keyId }) => ({ keyId, givenBy: givenBy(keyId) })) };
  await callObject(object, (stub) => stub.execute(operatorOf(context), { type: 'recordExport', ...exported }));
  for (const key of vault.keys) {
    const recipients = recipientsOf(key, packages);
    if (recipients !== null)
      await storeExport(context.env.DB, { vaultId: vault.id, keyId: key.keyId, startedAtMs, recipients });
  }
  return context.json({ packages, missing });
}

/**
 * Returns the recipients of a complete export: a package of each co-signer, all of one epoch. Null
 * for another export.
 */
function recipientsOf(
  { keyId, publicShares }: Vault['keys'][number],
  packages: Answer['packages'],
): readonly PackageRecipient[] | null {
  const own = packages.filter((one) => one.keyId === keyId);
  const isComplete =
    own.length === Object.keys(publicShares).length && new Set(own.map(({ epoch }) => epoch)).size === 1;
  return isComplete ? own.map(({ node, recoveryKey }) => ({ cosigner: node, recoveryKey })) : null;
}

async function packagesOf(context: HttpContext, vault: Vault): Promise<Answer> {
  const packages: Answer['packages'] = [];
  const missing: Answer['missing'] = [];
  for (const node of cosignersOf(context.env)) {
    for (const { keyId, publicShares } of vault.keys) {
      if (!(String(node.index) in publicShares)) continue;
      const answer = await node.call(`key/${keyId}/recovery`, {});
      const sealed = answer.ok ? packageSchema.safeParse(answer.value).data : undefined;
      // The history would record a package of another key or co-signer under that name.
      if (sealed?.keyId === keyId && sealed.node === node.index) packages.push(sealed);
      else missing.push({ keyId, node: node.index, reason: answer.ok ? 'unreadable' : answer.refusal.code });
    }
  }
  return { packages, missing };
}
