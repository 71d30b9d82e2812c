import type { ChangePath } from '#http/vault/policy-change/decision.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { decideOnChange } from '#http/vault/policy-change/decision.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { policyChangeSchema } from '#http/encode/policy-change.ts';

/**
 * POST /vault/{vaultId}/policy-change/{changeId}/cancel: cancels a policy change. Its proposer or
 * an admin can cancel it, unless it removes that person as a signer. A repeated request gives 200
 * and changes nothing.
 */
export const cancelPolicyChange = route({
  method: 'POST',
  path: '/vault/:vaultId/policy-change/:changeId/cancel',
  access: 'write',
  scope: 'create',
  summary: 'Cancel a policy change',
  answer: { status: 200, schema: policyChangeSchema },
  refuses: ['forbidden', 'policy-change-not-found', 'policy-change-not-pending', 'removed-by-change'],
  handle: (context: HttpContext, { params }: Input<{ params: ChangePath }>) =>
    decideOnChange(context, params, { type: 'cancel' }),
});
