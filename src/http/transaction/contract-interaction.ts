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

const interactionBody = z
  .strictObject({
    ...counterpartyFields,
    to: addressField,
    data: z.string(),
    value: amountField,
  })
  .meta({
    examples: [
      {
        vaultId: 1,
        chain: 'ethereum',
        to: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
        data: '0xd0e30db0',
        value: '1000000000000000000',
      },
    ],
  });

/**
 * POST /transaction/contract-interaction: creates a contract call with exactly these bytes, which
 * also pays `value` of the native asset. The record shows calldata of a known standard in decoded
 * form.
 */
export const contractInteraction = route({
  method: 'POST',
  path: '/transaction/contract-interaction',
  access: 'write',
  scope: 'create',
  summary: 'Create a contract call with the given calldata',
  body: interactionBody,
  answer: transactionAnswer(201),
  refuses: CREATION_REFUSALS,
  handle: createInteraction,
});

async function createInteraction(
  context: HttpContext,
  { body }: Input<{ body: typeof interactionBody }>,
): Promise<Response> {
  const read: ActionReader['read'] = (reader) => {
    const to = reader.recipient(body.to, '/to');
    const data = reader.rules.parseCalldata(body.data);
    if (data === null) {
      const detail = 'Must be calldata in hex: 0x and two digits for each byte, 24 KiB at most.';
      reader.fault({ pointer: '/data', code: 'invalid-data', detail });
    }
    const value = reader.amount(body.value, '/value', '0');
    if (to === null || data === null || value === null) return null;
    return { kind: 'contract-interaction', to, data, value };
  };
  return create(context, body, { kind: 'contract-interaction', read });
}
