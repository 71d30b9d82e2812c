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

const approveBody = z
  .strictObject({
    ...counterpartyFields,
    tokenAddress: addressField,
    spender: addressField,
    amount: amountField,
  })
  .meta({
    examples: [
      {
        vaultId: 1,
        chain: 'ethereum',
        tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        spender: '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
        amount: '1500000',
      },
    ],
  });

/**
 * POST /transaction/erc20-approve: creates an ERC-20 allowance that lets `spender` spend up to
 * `amount` of a token of the wallet; 0 revokes an earlier allowance. A token that requires an
 * allowance of 0 before a new one is refused with `allowance-not-zero`.
 */
export const erc20Approve = route({
  method: 'POST',
  path: '/transaction/erc20-approve',
  access: 'write',
  scope: 'create',
  summary: 'Set an ERC-20 allowance',
  body: approveBody,
  answer: transactionAnswer(201),
  refuses: CREATION_REFUSALS,
  handle: createApproval,
});

async function createApproval(context: HttpContext, { body }: Input<{ body: typeof approveBody }>): Promise<Response> {
  const read: ActionReader['read'] = (reader) => {
    const tokenAddress = reader.token(body.tokenAddress, '/tokenAddress');
    const spender = reader.recipient(body.spender, '/spender');
    const amount = reader.amount(body.amount, '/amount', '0');
    if (tokenAddress === null || spender === null || amount === null) return null;
    return { kind: 'erc20-approve', tokenAddress, spender, amount };
  };
  return create(context, body, { kind: 'erc20-approve', read });
}
