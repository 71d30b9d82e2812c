import type { HttpContext } from '#http/encode/context.ts';
import { approvalResultSchema } from '#http/encode/transaction-schema.ts';
import { deviceSignatureBody, deviceSignatureIn } from '#http/encode/device-signature.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { recordDecision } from '#http/transaction/decision.ts';

/**
 * POST /transaction/{txId}/approve: records the caller's approval of exactly the intent in the
 * challenge. The approval that meets the threshold starts signing. The body is empty or contains
 * the signature of the challenge digest by a device of the caller. A vault in device mode requires
 * the signature; in token mode a signature that is present must be valid.
 *
 * An approval that is refused with `policy-forbids` is not counted.
 */
export const approve = route({
  method: 'POST',
  path: '/transaction/:txId/approve',
  access: 'write',
  scope: 'approve',
  byDevice: true,
  summary: 'Approve a transaction; the approval that meets the threshold starts signing',
  optionalBody: deviceSignatureBody,
  answer: { status: 200, schema: approvalResultSchema },
  refuses: [
    'forbidden',
    'transaction-not-found',
    'transaction-not-pending',
    'device-signature-required',
    'policy-forbids',
    'device-signature-refused',
  ],
  handle: (
    context: HttpContext,
    { params, body }: Input<{ params: 'txId'; optionalBody: typeof deviceSignatureBody }>,
  ) => recordDecision(context, params.txId, { type: 'approve', device: deviceSignatureIn(body) }),
});
