import type { ChangePath } from '#http/vault/policy-change/decision.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { deviceSignatureIn, withOptionalSignature } from '#http/encode/device-signature.ts';
import { decideOnChange, SIGNED_DECISION_REFUSALS } from '#http/vault/policy-change/decision.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { reasonIn, rejectionReason } from '#http/encode/transaction-schema.ts';
import { policyChangeSchema } from '#http/encode/policy-change.ts';

const rejectionBody = withOptionalSignature({ reason: rejectionReason }).meta({
  examples: [{ reason: 'The new threshold is too low' }],
});

/**
 * POST /vault/{vaultId}/policy-change/{changeId}/reject: rejects a policy change. The change ends
 * when the signers who have not rejected it can no longer adopt it. An earlier approval of the
 * caller is withdrawn. In device mode, a device of the caller signs `rejection.digest` of the
 * change. The signature does not cover the reason. A repeated request gives 200 and changes
 * nothing, also with another reason.
 */
export const rejectPolicyChange = route({
  method: 'POST',
  path: '/vault/:vaultId/policy-change/:changeId/reject',
  access: 'write',
  scope: 'approve',
  byDevice: true,
  summary: 'Reject a policy change',
  optionalBody: rejectionBody,
  answer: { status: 200, schema: policyChangeSchema },
  refuses: SIGNED_DECISION_REFUSALS,
  handle: (context: HttpContext, { params, body }: Input<{ params: ChangePath; optionalBody: typeof rejectionBody }>) =>
    decideOnChange(context, params, { type: 'reject', device: deviceSignatureIn(body), ...reasonIn(body) }),
});
