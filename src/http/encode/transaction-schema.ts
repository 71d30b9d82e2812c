import * as z from 'zod';
import { deviceSignatureSchema } from '#http/encode/device-signature.ts';
import { plainText } from '#http/encode/plain-text.ts';
import { ATTEMPT_PURPOSES, MESSAGE_FORMATS } from '#domain/transaction/intent.ts';
import { HIDDEN_REASONS } from '#domain/activity/spam.ts';
import { DISPLAY_TYPES, SEND_OUTCOMES, SPEEDS, TRANSACTION_STATES } from '#domain/transaction/transaction.ts';
import {
  amountSchema as amount,
  assetSchema as asset,
  balanceChangeSchema,
  hiddenChangeSchema,
  movementSchema,
  usdSchema,
} from '#http/encode/asset.ts';

/**
 * The schema of a transaction. The type checker holds `transactionRecord` to it, and every test
 * checks responses against it.
 */

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
    .meta({ description: 'A cancellation transfers an amount of 0 to the wallet itself at the same nonce' }),
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
  device: deviceSignatureSchema.nullable().meta({ description: 'Device signature of the digest; null without one' }),
  at: time,
});

/** The reason of a rejection in a request. */
export const rejectionReason = plainText(500)
  .nullish()
  .meta({
    description:
      'Why, for the other members; at most 500 characters. Claimed: no device signs it. A repeated rejection does ' +
      'not change it',
  });

/** Returns the reason in the body of a rejection, in the form of the domain. */
export function reasonIn(body: { readonly reason?: string | null | undefined } | null): { readonly reason?: string } {
  return body?.reason == null ? {} : { reason: body.reason };
}

export const rejectionSchema = z.strictObject({
  ...approvalSchema.shape,
  reason: text
    .nullable()
    .meta({ description: 'Why, in the words of this member. Claimed: no device signs it. Null without a reason' }),
});

export const warning = z.strictObject({ code: text, detail: text });

export const RECORD_KINDS = ['transfer', 'contract-interaction', 'erc20-approve', 'message', 'activity'] as const;

const transactionFields = {
  id: text,
  vaultId: z.int(),
  version: z.int(),
  kind: z.enum(RECORD_KINDS).meta({ description: 'activity: not created by this vault, but reported by its chain' }),
  state: z.enum(TRANSACTION_STATES),
  stateReason: text.nullable().meta({ description: 'Reason for the state; an open set' }),
  stateDetail: text.nullable().meta({
    description:
      'Message with which the RPC nodes have rejected the newest attempt three times in a row, or because of which ' +
      'the transaction was abandoned; at most 301 characters',
  }),
  waitsFor: text.nullable().meta({
    description:
      'With the reason WAITS_FOR_NONCE: the transaction of the wallet that owns the lowest unused nonce; null when ' +
      'none owns it, and the next approved transaction gets it',
  }),
  displayType: z.enum(DISPLAY_TYPES),
  direction: z.enum(['out', 'in']),
  visible: z.boolean(),
  hiddenReason: z.enum(HIDDEN_REASONS).nullable().meta({
    description: 'Rule that hides the transaction; null when one of its assets is shown. An open set',
  }),
  chain: text,
  from: text.nullable().meta({ description: 'The sender; null for an amount that was minted without a signature' }),
  to: text.nullable(),
  asset: asset.nullable(),
  amount: amount.nullable(),
  spender: text.nullable(),
  data: text.nullable(),
  omitted: z.array(z.enum(['data', 'message'])).meta({
    description:
      'Fields that a list leaves out because they are longer than 1 KB; `call` is left out with `data`. They are ' +
      'null here, and GET /transaction/{txId} returns them. Empty in every other answer',
  }),
  call: call.nullable().meta({ description: 'Decoded calldata; null when no known standard decodes it' }),
  movements: z.array(movementSchema).meta({
    description:
      'Movements to and from the wallet once the transaction is in a block, without the fee; the first hundred',
  }),
  movementCount: z.int().meta({ description: 'Total number of movements' }),
  balanceChanges: z
    .array(balanceChangeSchema)
    .meta({ description: 'Net amount of all movements, one entry for each asset; feePaid has the fee' }),
  hiddenChanges: z.array(hiddenChangeSchema).meta({
    description:
      'Net amount of each asset that a rule hides in a visible transaction. No other field has these assets, but the ' +
      'ledger has them. Empty for a hidden transaction, which has all assets in balanceChanges, and after a member ' +
      'has chosen to show it',
  }),
  usdValue: usdSchema.nullable().meta({
    description:
      'Value in US dollars, at the prices when the transaction was first observed in a block; null when a price is ' +
      'not known',
  }),
  pricedAt: time.nullable(),
  maxFee: amount.nullable(),
  feeAsset: asset.meta({ description: 'The native asset of the chain, in which maxFee and feePaid are' }),
  paysFor: text.nullable().meta({
    description: 'Hash of the unmined incoming transaction that this one accelerates (child pays for parent)',
  }),
  memo: text.nullable().meta({
    description: 'Text on the chain beside the payment (Solana); several memos of others are separated by line feeds',
  }),
  maxTokenFee: text.nullable().meta({
    description: 'The most that the token may withhold from the recipient, out of the amount, in its units (Solana)',
  }),
  lookalikeOf: text
    .nullable()
    .meta({ description: 'Known address that an address of the transaction resembles; its creator has accepted this' }),
  warnings: z.array(warning).meta({
    description:
      'Warnings for signers; an open set of codes. `valid-on-every-chain`: the signature of this message names no ' +
      'chain (EIP-191, EIP-712 without `chainId`). `foreign-chain`: the typed data is for another chain id. ' +
      '`payment-by-signature`: a holder of the signature can move tokens. `raw-bytes`, `may-be-a-hash`: what the ' +
      'bytes mean cannot be shown. `dropped-keys`: keys of the typed data are not signed. ' +
      '`recipient-may-have-no-key`: the recipient is a program-derived address. `recipient-is-token`: the recipient ' +
      'of a token is the contract of this token. `token-withholds-fee`: the recipient may get less than the amount. ' +
      '`recipient-is-burn-address`: no one has the key of the recipient.',
  }),
  messageFormat: z.enum(MESSAGE_FORMATS).nullable(),
  message: text.nullable(),
  foreignChainId: text.nullable().meta({
    description: 'Chain id that the typed data is for, when it is not the id of `chain`; its creator has accepted this',
  }),
  droppedKeys: z
    .int()
    .nullable()
    .meta({
      description:
        'Number of keys of the given typed data that no type declares; they were dropped and are not signed; null for ' +
        'none',
    }),
  feePaid: amount.nullable(),
  nonce: text.nullable(),
  txHash: text.nullable(),
  explorerUrl: text.nullable(),
  attempts: z.array(attempt),
  confirmations: z.int(),
  block: z.strictObject({ number: text, hash: text }).nullable(),
  finality: z.enum(['confirmed', 'finalized']).nullable(),
  failure: text.nullable(),
  signature: text.nullable().meta({ description: 'Signature of a message' }),
  speed: z.enum(SPEEDS).nullable().meta({
    description: 'The estimated fee that is offered to the network; null for messages and activity',
  }),
  note: text.nullable(),
  externalId: text.nullable(),
  digest: text.nullable(),
  knownAs: z
    .array(z.strictObject({ address: text, name: text }))
    .meta({ description: 'Names in the address book of the recipients and spenders' }),
  policyVersion: z.int().nullable(),
  requirements: z.array(z.strictObject({ rule: text, approvals: z.int(), detail: text })).meta({
    description:
      'Rules that determine the required approvals, by the current policy and the policy at creation; an open set ' +
      'of rules',
  }),
  forbiddenBy: text
    .nullable()
    .meta({ description: 'Rule violation under the current policy while the transaction is pending' }),
  requiredApprovals: z.int(),
  approvalsCounted: z.int(),
  approvals: z.array(approvalSchema),
  requiredRejections: z.int().meta({ description: 'Rejections that end it, by the current policy' }),
  rejections: z.array(rejectionSchema),
  rejection: rejectionSchema.nullable().meta({ description: 'The last of `rejections`, which ended or stopped it' }),
  actionsForMe: z
    .array(z.enum(['approve', 'reject', 'cancel', 'end-unknown', 'speed-up', 'child-pays-for-parent']))
    .meta({ description: 'end-unknown: cancel with an acknowledgement of the stateReason' }),
  createdBy: text.nullable(),
  createdAt: time,
  updatedAt: time,
  expiresAt: time.nullable(),
  notAfter: time.nullable().meta({
    description:
      'Time after which an unmined transaction is cancelled and becomes FAILED with NOT_AFTER_PASSED; null without ' +
      'such a time',
  }),
};

export const transactionSchema = z.strictObject(transactionFields).meta({ id: 'Transaction' });

/** The schema of the response to an approval or a rejection. */
export const approvalResultSchema = z
  .strictObject({ ...transactionFields, alreadyCounted: z.boolean() })
  .meta({ id: 'TransactionAfterVote' });

export function transactionAnswer<S extends 200 | 201>(status: S) {
  return { status, schema: transactionSchema };
}
