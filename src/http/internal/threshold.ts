import * as z from 'zod';
import type { Route } from '#http/context.ts';
import { noSuchVault, policyProblem, vaultOfPath, vaultRecord, vaultSchema } from '#http/internal/vault.ts';
import { askObject } from '#http/object-call.ts';

const thresholdBody = z.strictObject({ threshold: z.int().positive() });

/** PUT /internal/vault/{vaultId}/threshold (ours). A lower one approves nothing that is pending already. */
export const putThreshold: Route = {
  method: 'PUT',
  path: '/internal/vault/:vaultId/threshold',
  access: 'service',
  summary: 'sets the threshold',
  body: thresholdBody,
  answer: { status: 200, schema: vaultSchema },
  refuses: ['vault-not-found'],
  handle: async (context) => {
    const { threshold } = thresholdBody.parse(await context.req.json());
    const object = vaultOfPath(context);
    const changed = object === null ? null : await askObject(object, (vault) => vault.setThreshold(threshold));
    if (changed === null) return noSuchVault(context);
    return changed.ok ? context.json(vaultRecord(changed.value)) : policyProblem(context, changed.refusal);
  },
};
