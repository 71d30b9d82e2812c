import type { HttpContext } from '#http/encode/context.ts';
import { approvalResultSchema, reasonIn, rejectionReason } from '#http/encode/transaction-schema.ts';
import { deviceSignatureIn, withOptionalSignature } from '#http/encode/device-signature.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { recordDecision } from '#http/transaction/decision.ts';

const rejectionBody = withOptionalSignature({ reason: rejectionReason }).meta({
  examples: [{ reason: 'The invoice has another account number' }],
});

/**
 * POST /transaction/{txId}/reject: rejects a transaction. As many rejections as the policy
 * requires, by default one, end a pending transaction permanently. The body is empty or has a
 * reason. In device mode, a device of the caller signs `rejection.digest` of the challenge, and an
 * approved transaction that is not mined is stopped as by `cancel`. The signature does not cover
 * the reason. A repeated request gives 200 and changes nothing, also with another reason.
 */
export const reject = route({
  method: 'POST',
  path: '/transaction/:txId/reject',
  access: 'write',
  scope: 'approve',
  byDevice: true,
  summary: 'Reject a transaction',
  optionalBody: rejectionBody,
  answer: { status: 200, schema: approvalResultSchema },
  refuses: [
    'forbidden',
    'transaction-not-found',
    'transaction-not-pending',
    'device-signature-required',
    'device-signature-refused',
  ],
  handle: (context: HttpContext, { params, body }: Input<{ params: 'txId'; optionalBody: typeof rejectionBody }>) =>
    recordDecision(context, params.txId, { type: 'reject', device: deviceSignatureIn(body), ...reasonIn(body) }),
});
