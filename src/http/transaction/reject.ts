import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { approvalResultSchema, reasonIn, rejectionReason } from '#http/encode/transaction-schema.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { recordDecision } from '#http/transaction/decision.ts';

const rejectionBody = z
  .strictObject({ reason: rejectionReason })
  .meta({ examples: [{ reason: 'The invoice has another account number' }] });

/**
 * POST /transaction/{txId}/reject: rejects a pending transaction, which ends it permanently. One
 * rejection of any signer is enough. The body is empty or has a reason. A repeated request gives
 * 200 and changes nothing, also with another reason.
 */
export const reject = route({
  method: 'POST',
  path: '/transaction/:txId/reject',
  access: 'write',
  scope: 'approve',
  summary: 'Reject a transaction',
  optionalBody: rejectionBody,
  answer: { status: 200, schema: approvalResultSchema },
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-pending'],
  handle: (context: HttpContext, { params, body }: Input<{ params: 'txId'; optionalBody: typeof rejectionBody }>) =>
    recordDecision(context, params.txId, { type: 'reject', ...reasonIn(body) }),
});
