import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { operatorOf } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { noSuchVault, vaultOf } from '#http/internal/vault.ts';
import { callObject } from '#http/edge/object-call.ts';

const projectionSchema = z
  .strictObject({
    records: z.int().meta({ description: 'Transactions and activity that are projected again' }),
    lines: z.int().meta({ description: 'History entries that are projected again' }),
  })
  .meta({ id: 'Projection' });

/**
 * POST /internal/vault/{vaultId}/projection: rebuilds the read model of a vault from nothing, after
 * D1 was lost or restored to an earlier state. Responds with 202; the lists are complete when they
 * contain the newest entry of the history. A repeated request starts again and has the same result.
 */
export const rebuildReadModel = route({
  method: 'POST',
  path: '/internal/vault/:vaultId/projection',
  access: 'service',
  scope: 'vaults',
  summary: 'Rebuild the read model of a vault',
  answer: { status: 202, schema: projectionSchema },
  refuses: ['vault-not-found'],
  handle: project,
});

async function project(
  context: HttpContext,
  { params: { vaultId } }: OperatorInput<{ params: 'vaultId' }>,
): Promise<Response> {
  const object = vaultOf(context, vaultId);
  const pending =
    object === null
      ? null
      : await callObject(object, (stub) => stub.execute(operatorOf(context), { type: 'requeueProjection' }));
  return pending === null ? noSuchVault(context) : context.json(pending, 202);
}
