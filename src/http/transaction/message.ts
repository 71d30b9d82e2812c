import * as z from 'zod';
import { isDeceptive } from '#domain/visible-text.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import type { ActionReader } from '#http/transaction/creation.ts';
import { CREATION_REFUSALS, create, creationFields } from '#http/transaction/creation.ts';
import { transactionAnswer } from '#http/encode/transaction-schema.ts';

const messageBody = z
  .strictObject({
    ...creationFields,
    message: z.string(),
    encoding: z
      .enum(['text', 'hex'])
      .optional()
      .meta({
        description:
          'EVM: `hex` when the message is bytes in hex with 0x, which are signed as they are (EIP-191); `text`, the ' +
          'default, signs the text itself. The policy treats bytes as a call that cannot be decoded',
      }),
    acceptForeignChainId: z
      .string()
      .regex(/^(?:0|[1-9][0-9]{0,77})$/, 'Must be a chain id in digits.')
      .nullish()
      .meta({
        description:
          'EVM: acknowledges that typed data has this `domain.chainId`, which is not the id of `chain`; signers see ' +
          'a warning, and the rules of the policy for that chain apply',
      }),
  })
  .meta({
    examples: [
      { vaultId: 1, chain: 'ethereum', message: 'Sign in to example.com as the treasury' },
      {
        vaultId: 1,
        chain: 'ethereum',
        message:
          '{"types":{"Vote":[{"name":"proposal","type":"uint256"}]},"primaryType":"Vote","domain":{"name":"Council","chainId":1},"message":{"proposal":"7"}}',
      },
    ],
  });

/**
 * POST /transaction/message: creates a message to sign. It is a text (EIP-191) or, when it is
 * typed-data JSON, typed data (EIP-712); on Solana it is an off-chain message, and on Bitcoin a
 * BIP-322 message. It ends in SUCCEEDED with a `signature` and no `txHash`. An acknowledgement of a
 * foreign chain id has no meaning for a message that names none, and is dropped.
 */
export const message = route({
  method: 'POST',
  path: '/transaction/message',
  access: 'write',
  scope: 'create',
  summary: 'Create a message to sign: a text, or typed data when the message is typed-data JSON',
  body: messageBody,
  answer: transactionAnswer(201),
  refuses: CREATION_REFUSALS,
  handle: createMessage,
});

const NO_RAW_BYTES = 'The encoding hex is supported only on EVM chains.';

async function createMessage(context: HttpContext, { body }: Input<{ body: typeof messageBody }>): Promise<Response> {
  const read: ActionReader['read'] = ({ rules, fault }) => {
    const isRaw = body.encoding === 'hex';
    if (isRaw && rules.parseRawMessage === null) {
      return fault({ pointer: '/encoding', code: 'invalid-message', detail: NO_RAW_BYTES });
    }
    const acceptForeignChainId = body.acceptForeignChainId ?? undefined;
    const text =
      isRaw && rules.parseRawMessage !== null
        ? rules.parseRawMessage(body.message)
        : rules.parseMessage(body.message, { acceptForeignChainId });
    if (!text.ok) return fault({ pointer: '/message', code: 'invalid-message', detail: text.refusal });
    // Sign-in texts contain line breaks and tabs. No signed text needs marks that change its
    // direction, and typed data may contain them as an escape.
    if (isDeceptive(text.value.message.replaceAll(/[\n\r\t]/g, ' '))) {
      const detail = 'Must not contain control characters or marks that change the direction of text.';
      return fault({ pointer: '/message', code: 'deceptive-text', detail });
    }
    return { kind: 'message', ...text.value };
  };
  return create(context, body, { kind: 'message', read });
}
