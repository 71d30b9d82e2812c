import { voteSchema } from '#http/transaction/record-schema.ts';
import { route } from '#http/context.ts';
import { vote } from '#http/transaction/vote.ts';

/**
 * POST /transaction/{txId}/approve (spec part 4): one signer's voice for exactly the intent of the challenge. The voice that
 * meets the threshold starts the signing.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `transaction-not-found`, `transaction-not-pending`,
 * `policy-forbids` (the voice is then not counted).
 */
export const approve = route({
  method: 'POST',
  path: '/transaction/:txId/approve',
  access: 'write',
  summary: 'one voice for it; the one that meets the threshold starts the signing',
  answer: { status: 200, schema: voteSchema },
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-pending', 'policy-forbids'],
  handle: (context) => vote(context, 'approve'),
});
