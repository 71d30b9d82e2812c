import type { Route } from '#http/context.ts';
import { noBody } from '#http/request-check.ts';
import { vote } from '#http/transaction/vote.ts';

/**
 * POST /transaction/{txId}/approve (spec part 4): one signer's voice for exactly the intent of the challenge. The voice that
 * meets the threshold starts the signing.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `transaction-not-found`, `transaction-not-pending`.
 */
export const approve: Route = {
  method: 'POST',
  path: '/transaction/:txId/approve',
  access: 'write',
  checks: noBody,
  handle: (context) => vote(context, 'approve'),
};
