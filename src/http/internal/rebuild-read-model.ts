import * as z from 'zod';
import type { HttpContext } from '#http/edge/context.ts';
import { route } from '#http/edge/context.ts';
import { noSuchVault, vaultOfPath } from '#http/internal/vault.ts';
import { callObject } from '#http/edge/object-call.ts';

const projectionSchema = z
  .strictObject({
    records: z.int().meta({ description: 'Transactions and activity that are projected again' }),
    lines: z.int().meta({ description: 'History entries that are projected again' }),
  })
  .meta({ id: 'Projection' });

/**
 * POST /internal/vault/{vaultId}/projection (ours): the vault tells the read model everything again, as if it had nothing: D1 was set back, or
 * lost. 202: lists are whole when the newest line of the history is there. Again it begins anew, and changes nothing.
 *
 * Refuses, in order: the service key, `vault-not-found`.
 */
export const rebuildReadModel = route({
  method: 'POST',
  path: '/internal/vault/:vaultId/projection',
  access: 'service',
  summary: 'Rebuild the read model of a vault',
  answer: { status: 202, schema: projectionSchema },
  refuses: ['vault-not-found'],
  handle: project,
});

async function project(context: HttpContext): Promise<Response> {
  const object = vaultOfPath(context);
  const pending = object === null ? null : await callObject(object, (stub) => stub.project());
  return pending === null ? noSuchVault(context) : context.json(pending, 202);
}
