import { approvalResultSchema } from '#http/transaction/record-schema.ts';
import { deviceSignatureBody, readDeviceSignature } from '#http/encode/device-signature.ts';
import { route } from '#http/edge/context.ts';
import { recordDecision } from '#http/transaction/decision.ts';

/**
 * POST /transaction/{txId}/approve (spec part 4): one signer's voice for exactly the intent of the challenge. The voice that
 * meets the threshold starts the signing. The body is empty, or the signature of a device of the caller's over the digest of the challenge:
 * where the vault counts by devices there has to be one, and elsewhere one that comes has to be right.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `transaction-not-found`, `transaction-not-pending`,
 * `device-signature-required`, `policy-forbids` (the voice is then not counted), `device-signature-refused`.
 */
export const approve = route({
  method: 'POST',
  path: '/transaction/:txId/approve',
  access: 'write',
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
  handle: async (context) => recordDecision(context, { type: 'approve', device: await readDeviceSignature(context) }),
});
