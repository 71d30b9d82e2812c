import type { ChangePath } from '#http/vault/policy-change/decision.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { deviceSignatureBody, deviceSignatureIn } from '#http/encode/device-signature.ts';
import { decideOnChange, SIGNED_DECISION_REFUSALS } from '#http/vault/policy-change/decision.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { policyChangeSchema } from '#http/encode/policy-change.ts';

/**
 * POST /vault/{vaultId}/policy-change/{changeId}/approve: records the caller's approval of exactly
 * this next policy. The approval that meets the threshold puts the policy in force at once and ends
 * all other pending changes. In device mode, a device of the caller signs the digest of the change.
 * A repeated approval gives 200 and changes nothing.
 */
export const approvePolicyChange = route({
  method: 'POST',
  path: '/vault/:vaultId/policy-change/:changeId/approve',
  access: 'write',
  scope: 'approve',
  byDevice: true,
  summary: 'Approve a policy change',
  optionalBody: deviceSignatureBody,
  answer: { status: 200, schema: policyChangeSchema },
  refuses: SIGNED_DECISION_REFUSALS,
  handle: (
    context: HttpContext,
    { params, body }: Input<{ params: ChangePath; optionalBody: typeof deviceSignatureBody }>,
  ) => decideOnChange(context, params, { type: 'approve', device: deviceSignatureIn(body) }),
});
