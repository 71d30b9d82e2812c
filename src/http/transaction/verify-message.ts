import * as z from 'zod';
import { adapterFor } from '#chains/adapters.ts';
import { VERDICT_REASONS } from '#chains/message-verdict.ts';
import { chainsFrom, findChain } from '#chains/registry.ts';
import { verifyMessage } from '#chains/verify-message.ts';
import { MESSAGE_FORMATS } from '#domain/transaction/intent.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { route } from '#http/edge/context.ts';
import { fieldReader } from '#http/edge/field-reader.ts';
import type { FieldFault } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { addressField, targetFields } from '#http/transaction/creation.ts';

/** The same message and signature, as `GET /transaction/{txId}` shows them for a signed message. */
const claimBody = z
  .strictObject({
    chain: targetFields.chain,
    address: addressField,
    format: z
      .enum(MESSAGE_FORMATS)
      .optional()
      .meta({ description: 'When absent, the format that a new message with this text would have' }),
    message: z.string(),
    signature: z
      .string()
      .min(1)
      .meta({ description: 'EVM: 65 bytes in hex; Solana: base58; Bitcoin: base64 with the prefix smp' }),
  })
  .meta({
    examples: [
      {
        chain: 'bitcoin',
        address: 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l',
        message: 'Hello World',
        signature:
          'smpAkcwRAIgZRfIY3p7/DoVTty6YZbWS71bc5Vct9p9Fia83eRmw2QCICK/ENGfwLtptFluMGs2KsqoNSk89pO7F29zJLUx9a/sASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=',
      },
    ],
  });

const verdictSchema = z
  .strictObject({
    chain: z.string(),
    address: z.string(),
    format: z.enum(MESSAGE_FORMATS),
    valid: z
      .boolean()
      .nullable()
      .meta({ description: 'Null when only an RPC node or a script interpreter can verify the signature' }),
    reason: z.enum(VERDICT_REASONS).nullable().meta({ description: 'Null for a valid signature' }),
    detail: z.string().nullable().meta({ description: 'Explanation of the reason' }),
  })
  .meta({ id: 'MessageVerdict' });

/**
 * POST /transaction/message/verify (ours): reports whether the key of an address has signed a
 * message, of a wallet here or anywhere. Pure computation: no chain is asked and nothing is stored,
 * so it counts as a read, and any valid credential may ask.
 *
 * Refuses, in order: the credential, `body-too-large`, `unsupported-media-type`, `malformed-json`,
 * `invalid-request`. A well-formed signature that is wrong is an answer, not an error.
 */
export const verifyMessageRoute = route({
  method: 'POST',
  path: '/transaction/message/verify',
  access: 'read',
  summary: 'Verify that the key of an address has signed a message',
  body: claimBody,
  answer: { status: 200, schema: verdictSchema },
  refuses: [],
  handle: verify,
});

async function verify(context: HttpContext): Promise<Response> {
  const { chain: name, address: text, format = null, message, signature } = claimBody.parse(await context.req.json());
  const chains = chainsFrom(context.env);
  const chain = findChain(chains, name);
  if (chain === null) {
    const detail = `The chain is not known. Known chains: ${chains.map((known) => known.name).join(', ')}.`;
    return invalidRequest(context, [{ pointer: '/chain', code: 'unknown-chain', detail }]);
  }
  const faults: FieldFault[] = [];
  const address = fieldReader(adapterFor(chain, []), faults).recipient(text, '/address');
  if (address === null) return invalidRequest(context, faults);
  const verified = verifyMessage(chain.family, { chain: chain.caip2, address, format, message, signature });
  if (!verified.ok) {
    const { field, detail } = verified.refusal;
    return invalidRequest(context, [{ pointer: `/${field}`, code: `invalid-${field}`, detail }]);
  }
  return context.json({ chain: chain.name, address, format: verified.value.format, ...verified.value.verdict });
}
