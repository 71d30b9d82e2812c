import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import type { SignedExportList } from '#cosigner-client/export-lists.ts';
import { exportListOf, exportListSchema } from '#cosigner-client/export-lists.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const exportsQuery = z.strictObject({
  nonce: z.string().regex(/^[0-9a-f]{64}$/, 'Must be 32 bytes in lower-case hex.'),
});

const exportsSchema = z
  .strictObject({
    lists: z.array(exportListSchema),
    missing: z.array(z.strictObject({ keyId: z.string(), node: z.int(), reason: z.string() })),
  })
  .meta({ id: 'RecoveryExports' });

/**
 * GET /vault/{vaultId}/recovery-exports: returns the recovery packages that each co-signer has
 * exported, in a list that the co-signer signs over the nonce of the reader. `npm run conclave --
 * verify-exports` compares the lists with the history. An export that the coordinator hid is in the
 * lists only.
 */
export const recoveryExports = route({
  method: 'GET',
  path: '/vault/:vaultId/recovery-exports',
  access: 'read',
  summary: 'List the recovery packages that each co-signer exported, with its signature',
  query: exportsQuery,
  answer: { status: 200, schema: exportsSchema },
  refuses: ['forbidden'],
  handle: readExports,
});

async function readExports(
  context: HttpContext,
  { params: { vaultId }, query: { nonce } }: Input<{ params: 'vaultId'; query: typeof exportsQuery }>,
): Promise<Response> {
  const actor = actorOf(context);
  const object = () => vaultStub(context.env, vaultId);
  const entered = await callObject(object, (vault) => vault.query(actor, { type: 'projectedScope' }));
  if (!entered.ok) return refusalProblem(context, entered.refusal);
  const vault = await callObject(object, (stub) => stub.work({ type: 'describeVault' }));
  const lists: SignedExportList[] = [];
  const missing: z.infer<typeof exportsSchema>['missing'] = [];
  for (const node of cosignersOf(context.env)) {
    for (const { keyId, publicShares } of vault?.keys ?? []) {
      if (!(String(node.index) in publicShares)) continue;
      const list = await exportListOf(node, keyId, nonce);
      if (list.ok) lists.push(list.value);
      else missing.push({ keyId, node: node.index, reason: list.refusal.code });
    }
  }
  return context.json({ lists, missing });
}
