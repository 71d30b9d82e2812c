import { approvalResultSchema } from '#http/transaction/record-schema.ts';
import { route } from '#http/edge/context.ts';
import { recordDecision } from '#http/transaction/decision.ts';

/**
 * POST /transaction/{txId}/reject: rejects a pending transaction, which ends it permanently. One
 * rejection of any signer is enough.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `transaction-not-found`,
 * `transaction-not-pending`.
 */
export const reject = route({
  method: 'POST',
  path: '/transaction/:txId/reject',
  access: 'write',
  summary: 'Reject a transaction',
  answer: { status: 200, schema: approvalResultSchema },
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-pending'],
  handle: (context) => recordDecision(context, { type: 'reject' }),
});
