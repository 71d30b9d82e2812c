import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import type { ActionReader } from '#http/transaction/creation.ts';
import {
  CREATION_REFUSALS,
  addressField,
  amountField,
  create,
  counterpartyFields,
} from '#http/transaction/creation.ts';
import { transactionAnswer } from '#http/encode/transaction-schema.ts';

/** Ours: the optional fields of payments. */
export const paymentFields = {
  memo: z
    .string()
    .max(256)
    .nullish()
    .meta({
      description:
        'Solana: text of at most 256 bytes that is recorded on chain with the payment; exchanges use it to assign ' +
        'deposits',
    }),
  recipientMayHaveNoKey: z.boolean().optional().meta({
    description:
      'Solana: acknowledges that the recipient is a program-derived address without a key; signers see a warning',
  }),
  recipientIsToken: z
    .boolean()
    .optional()
    .meta({
      description:
        'EVM: acknowledges that the recipient is the contract of the token itself, which can seldom return what it ' +
        'receives; signers see a warning',
    }),
  maxTokenFee: z
    .string()
    .min(1)
    .max(128)
    .nullish()
    .meta({
      description:
        'Solana: the most that a token may withhold from the recipient, out of the amount, in its units; part of ' +
        'the approved intent. A token that withholds more is refused. Nothing when absent.',
    }),
};

const transferBody = z
  .strictObject({
    ...counterpartyFields,
    to: addressField,
    amount: amountField,
    tokenAddress: addressField.nullish(),
    ...paymentFields,
  })
  .meta({
    examples: [
      {
        vaultId: 1,
        chain: 'ethereum',
        to: '0x52908400098527886E0F7030069857D2E4169EE7',
        amount: '250000000000000000',
        note: 'Rent for May',
      },
      {
        vaultId: 1,
        chain: 'eip155:1',
        to: '0x52908400098527886E0F7030069857D2E4169EE7',
        amount: '1500000',
        tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        externalId: 'invoice-7',
      },
    ],
  });

/** POST /transaction/transfer: creates a payment of the native asset or of a token. */
export const transfer = route({
  method: 'POST',
  path: '/transaction/transfer',
  access: 'write',
  scope: 'create',
  summary: 'Create a transfer',
  body: transferBody,
  answer: transactionAnswer(201),
  refuses: CREATION_REFUSALS,
  handle: createTransfer,
});

async function createTransfer(context: HttpContext, { body }: Input<{ body: typeof transferBody }>): Promise<Response> {
  return create(context, body, readTransfer(body));
}

/**
 * Set only for a recipient without a key. For any other recipient the acknowledgement has no
 * meaning and is dropped.
 */
const KEYLESS = { recipientMayHaveNoKey: true } as const;

/** Set only for a recipient that is the contract of the token. */
const TOKEN = { recipientIsToken: true } as const;

/** Returns the reader of a transfer, which parses its fields by the rules of the chain. */
export function readTransfer(body: {
  readonly to: string;
  readonly amount: string;
  readonly tokenAddress?: string | null | undefined;
  readonly memo?: string | null | undefined;
  readonly recipientMayHaveNoKey?: boolean | undefined;
  readonly recipientIsToken?: boolean | undefined;
  readonly maxTokenFee?: string | null | undefined;
}): ActionReader {
  const read: ActionReader['read'] = (reader) => {
    const keyless = body.recipientMayHaveNoKey === true ? reader.rules.parseKeylessRecipient(body.to) : null;
    const to = keyless ?? reader.recipient(body.to, '/to');
    const tokenAddress = body.tokenAddress == null ? null : reader.token(body.tokenAddress, '/tokenAddress');
    const amount = reader.amount(body.amount, '/amount', '1');
    const { memo = null } = body;
    const detail = memo === null ? null : reader.rules.memoFault(memo);
    if (detail !== null) reader.fault({ pointer: '/memo', code: 'invalid-memo', detail });
    const fee = body.maxTokenFee == null ? null : reader.amount(body.maxTokenFee, '/maxTokenFee', '0');
    const hasNoFee = fee !== null && (tokenAddress === null || reader.rules.chain.family !== 'solana');
    if (hasNoFee) {
      const text = 'The field is supported only for payments of tokens on Solana.';
      reader.fault({ pointer: '/maxTokenFee', code: 'not-on-this-chain', detail: text });
    }
    if (to === null || amount === null || hasNoFee) return null;
    const isToken = to === tokenAddress && body.recipientIsToken === true && reader.rules.chain.family === 'evm';
    const acknowledged = { ...(keyless === null ? {} : KEYLESS), ...(isToken ? TOKEN : {}) };
    const allowed = fee === null || fee === '0' ? {} : { maxTokenFee: fee };
    const extras = { ...(memo === null ? {} : { memo }), ...acknowledged, ...allowed };
    return { kind: 'transfer', to, tokenAddress, amount, ...extras };
  };
  return { kind: 'transfer', read };
}
