import * as z from 'zod';
import { deviceSignatureSchema } from '#http/encode/device-signature.ts';
import { ATTEMPT_PURPOSES, MESSAGE_FORMATS } from '#domain/transaction/intent.ts';
import { HIDDEN_REASONS } from '#domain/activity/spam.ts';
import { DISPLAY_TYPES, SEND_OUTCOMES, SPEEDS, TRANSACTION_STATES } from '#domain/transaction/transaction.ts';
import {
  amountSchema as amount,
  assetSchema as asset,
  balanceChangeSchema,
  movementSchema,
  usdSchema,
} from '#http/encode/asset.ts';

/** What the interface promises of a transaction. `transactionRecord` fits it by type, and every test by value. */

const text = z.string();
const time = z.iso.datetime();
type Value = string | boolean | Value[];
const value: z.ZodType<Value> = z.lazy(() => z.union([text, z.boolean(), z.array(value)])).meta({ id: 'DecodedValue' });

const call = z.strictObject({
  standard: text,
  function: text,
  arguments: z.array(z.strictObject({ name: text, type: text, value })),
});

const attempt = z.strictObject({
  number: z.int(),
  purpose: z
    .enum(ATTEMPT_PURPOSES)
    .meta({ description: 'A cancellation pays nothing to the wallet itself, at the same nonce' }),
  nonce: text,
  maxFee: amount,
  hash: text.nullable(),
  outcome: z.enum(SEND_OUTCOMES).nullable(),
  answer: text.nullable(),
  sentTimes: z.int(),
  sentAt: time.nullable(),
});

export const approvalSchema = z.strictObject({
  userId: text,
  digest: text,
  device: deviceSignatureSchema.nullable().meta({ description: 'Its signature of the digest; null without one' }),
  at: time,
});

export const warning = z.strictObject({ code: text, detail: text });

const transactionFields = {
  id: text,
  vaultId: z.int(),
  version: z.int(),
  kind: z
    .enum(['transfer', 'contract-interaction', 'erc20-approve', 'message', 'activity'])
    .meta({ description: 'activity: not made by this vault, and reported by its chain' }),
  state: z.enum(TRANSACTION_STATES),
  stateReason: text.nullable().meta({ description: 'Why it is in this state; an open set' }),
  stateDetail: text.nullable().meta({
    description:
      'The words in which the RPC nodes refuse the newest attempt, once they have done so three times in a row, or for which the transaction was given up; at most 301 characters',
  }),
  waitsFor: text.nullable().meta({
    description:
      'With the reason WAITS_FOR_NONCE: the transaction of the wallet that owns the lowest unused nonce; null where none does, and the next approved one gets it',
  }),
  displayType: z.enum(DISPLAY_TYPES),
  direction: z.enum(['out', 'in']),
  visible: z.boolean(),
  hiddenReason: z.enum(HIDDEN_REASONS).nullable().meta({ description: 'Why a rule hides it' }),
  chain: text,
  from: text,
  to: text.nullable(),
  asset: asset.nullable(),
  amount: amount.nullable(),
  spender: text.nullable(),
  data: text.nullable(),
  call: call.nullable().meta({ description: 'The calldata in words, where a standard knows it' }),
  movements: z.array(movementSchema).meta({
    description: 'Once a block has it: what came to the wallet or went from it, but for the fee; the first hundred',
  }),
  movementCount: z.int().meta({ description: 'All that there are' }),
  balanceChanges: z
    .array(balanceChangeSchema)
    .meta({ description: 'The net of all movements, one for each asset; the fee stands in feePaid' }),
  usdValue: usdSchema.nullable().meta({
    description: 'US dollars, by the prices of when a block was first seen to have it; null where one is not known',
  }),
  pricedAt: time.nullable(),
  maxFee: amount.nullable(),
  paysFor: text.nullable().meta({
    description:
      'The hash of somebody else’s transaction that waits to be mined, for which this one pays (child pays for parent)',
  }),
  memo: text.nullable().meta({ description: 'A text that is written into the chain with the payment (Solana)' }),
  lookalikeOf: text
    .nullable()
    .meta({ description: 'A known address that one here could be taken for; whoever created it has accepted that' }),
  warnings: z.array(warning).meta({
    description:
      'What a signer should not overlook; an open set of codes. `valid-on-every-chain`: the signature of this message names no chain (EIP-191, EIP-712 without `chainId`). `recipient-may-have-no-key`: the recipient is an address that a program derives',
  }),
  messageFormat: z.enum(MESSAGE_FORMATS).nullable(),
  message: text.nullable(),
  feePaid: amount.nullable(),
  nonce: text.nullable(),
  txHash: text.nullable(),
  explorerUrl: text.nullable(),
  attempts: z.array(attempt),
  confirmations: z.int(),
  block: z.strictObject({ number: text, hash: text }).nullable(),
  finality: z.enum(['confirmed', 'finalized']).nullable(),
  failure: text.nullable(),
  signature: text.nullable().meta({ description: 'Of a message' }),
  speed: z.enum(SPEEDS).nullable().meta({
    description:
      'By which of the estimated fees it is offered to the network; null for a message, and for what others did',
  }),
  note: text.nullable(),
  externalId: text.nullable(),
  digest: text.nullable(),
  knownAs: z
    .array(z.strictObject({ address: text, name: text }))
    .meta({ description: 'What the address book calls those who get or may take something' }),
  policyVersion: z.int().nullable(),
  requirements: z.array(z.strictObject({ rule: text, approvals: z.int(), detail: text })).meta({
    description: 'Why it takes that many approvals, by the policy of now and of its creation; an open set of rules',
  }),
  forbiddenBy: text.nullable().meta({ description: 'What the policy of now has against it while it is pending' }),
  requiredApprovals: z.int(),
  approvalsCounted: z.int(),
  approvals: z.array(approvalSchema),
  rejection: approvalSchema.nullable(),
  actionsForMe: z
    .array(z.enum(['approve', 'reject', 'cancel', 'end-unknown', 'speed-up', 'child-pays-for-parent']))
    .meta({ description: 'end-unknown is a cancel that acknowledges the stateReason' }),
  createdBy: text.nullable(),
  createdAt: time,
  updatedAt: time,
  expiresAt: time.nullable(),
  notAfter: time.nullable().meta({
    description:
      'When the time to carry it out is over; then FAILED with NOT_AFTER_PASSED. Null where it has no such end',
  }),
};

export const transactionSchema = z.strictObject(transactionFields).meta({ id: 'Transaction' });

/** What approve and reject answer. */
export const approvalResultSchema = z
  .strictObject({ ...transactionFields, alreadyCounted: z.boolean() })
  .meta({ id: 'TransactionAfterVote' });

export function transactionAnswer<S extends 200 | 201>(status: S) {
  return { status, schema: transactionSchema };
}
