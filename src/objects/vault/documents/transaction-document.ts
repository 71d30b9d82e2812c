import * as z from 'zod';
import type { AssetAmount, Exposure } from '#domain/asset/exposure.ts';
import type {
  ContractInteractionIntent,
  Erc20ApproveIntent,
  Intent,
  MessageIntent,
  TransferIntent,
} from '#domain/transaction/intent.ts';
import { ATTEMPT_PURPOSES, MESSAGE_FORMATS } from '#domain/transaction/intent.ts';
import type {
  Attempt,
  RpcRejection,
  Transaction,
  UtxoParent,
  ValuedInclusion,
} from '#domain/transaction/transaction.ts';
import { SEND_OUTCOMES, SPEEDS, TOKEN_TRANSFERS, TRANSACTION_STATES } from '#domain/transaction/transaction.ts';
import {
  actor,
  amount,
  approval,
  digest,
  displayType,
  rejection,
  timeMs,
  tokenLabel,
  transactionId,
  usdValue,
  vaultId,
  walletMovements,
} from '#objects/vault/documents/fields.ts';
import { documentCodec, exactly, readableOrNull, remembering } from '#store/document.ts';

const frame = {
  vaultId,
  transactionId,
  chain: z.string(),
  from: z.string(),
  policyVersion: z.int(),
  policyHash: digest,
  note: z.string().nullable(),
  createdAtMs: timeMs,
  expiresAtMs: timeMs,
};

const onChain = {
  ...frame,
  lookalikeOf: z.string().nullable(),
  maxFee: amount,
  notAfterMs: timeMs.exactOptional(),
};

const intent: z.ZodType<Intent> = z.discriminatedUnion('kind', [
  exactly<TransferIntent>()({
    ...onChain,
    kind: z.literal('transfer'),
    to: z.string(),
    tokenAddress: z.string().nullable(),
    amount,
    paysFor: z.string().exactOptional(),
    memo: z.string().exactOptional(),
    recipientMayHaveNoKey: z.literal(true).exactOptional(),
    recipientIsToken: z.literal(true).exactOptional(),
    maxTokenFee: amount.exactOptional(),
  }),
  exactly<ContractInteractionIntent>()({
    ...onChain,
    kind: z.literal('contract-interaction'),
    to: z.string(),
    data: z.string(),
    value: amount,
  }),
  exactly<Erc20ApproveIntent>()({
    ...onChain,
    kind: z.literal('erc20-approve'),
    tokenAddress: z.string(),
    spender: z.string(),
    amount,
  }),
  exactly<MessageIntent>()({
    ...frame,
    kind: z.literal('message'),
    format: z.enum(MESSAGE_FORMATS),
    message: z.string(),
    foreignChainId: z.string().exactOptional(),
    droppedKeys: z.int().exactOptional(),
  }),
]);

const exposure = exactly<Exposure>()({
  chain: z.string(),
  movements: z.array(exactly<AssetAmount>()({ tokenAddress: z.string().nullable(), amount })),
  beneficiaries: z.array(z.string()),
  isUnreadable: z.boolean(),
  isUnbound: z.literal(true).exactOptional(),
  fee: amount.exactOptional(),
});

/** The fields of an attempt that the read model has, too. */
export const publicAttemptFields = {
  number: z.int(),
  purpose: z.enum(ATTEMPT_PURPOSES),
  nonce: z.string(),
  signingDigest: z.string(),
  maxFee: amount,
  validUntil: z.string().nullable(),
  anchoredAt: z.string().exactOptional(),
  preparedAtMs: timeMs,
  preparedBy: z.string().exactOptional(),
  isAsked: z.boolean().exactOptional(),
  sent: z
    .strictObject({
      outcome: z.enum(SEND_OUTCOMES),
      answer: z.string().nullable(),
      atMs: timeMs,
      times: z.int(),
      isAsked: z.literal(true).exactOptional(),
    })
    .nullable(),
  refusal: exactly<RpcRejection>()({ answer: z.string(), times: z.int() }).nullable(),
};

const attempt = exactly<Attempt>()({
  ...publicAttemptFields,
  payload: z.string(),
  coinParents: z.array(exactly<UtxoParent>()({ txid: z.string(), spends: z.array(z.string()) })).exactOptional(),
  signed: z.object({ raw: z.string(), hash: z.string(), atMs: timeMs }).nullable(),
});

const inclusion = exactly<ValuedInclusion>()({
  ...walletMovements,
  hash: z.string(),
  blockNumber: z.string(),
  blockHash: z.string(),
  succeeded: z.boolean(),
  tokenTransfer: z.enum(TOKEN_TRANSFERS).exactOptional(),
  feePaid: amount,
  confirmations: z.int(),
  finalized: z.boolean(),
  failure: z.string().nullable(),
  secondNode: z.enum(['agrees', 'away', 'disagrees']).exactOptional(),
  isFinalForOneNode: z.literal(true).exactOptional(),
  usdValue: usdValue.nullable(),
  tokens: z.array(tokenLabel),
});

/** The fields of a transaction besides its attempts. */
export const transactionFields = {
  id: transactionId,
  vaultId,
  version: z.int(),
  state: z.enum(TRANSACTION_STATES),
  stateReason: z.string().nullable(),
  displayType,
  direction: z.literal('out'),
  visible: z.boolean(),
  visibilityChoice: z.boolean().nullable(),
  chain: z.string(),
  intent,
  digest,
  exposure,
  requiredApprovals: z.int(),
  approvals: z.array(approval),
  rejection: rejection.nullable(),
  openRejections: z.array(rejection).exactOptional(),
  cancelling: z.boolean(),
  givenUp: z.string().nullable(),
  waitsFor: transactionId.nullable(),
  endedByTimeAtMs: timeMs.nullable(),
  inclusion: inclusion.nullable(),
  watchedSinceMs: timeMs.nullable(),
  signature: z.string().nullable(),
  speed: z.enum(SPEEDS),
  joins: z.int().exactOptional(),
  includeMayCarryMore: z.literal(true).exactOptional(),
  nonceHeld: z.boolean(),
  externalId: z.string().nullable(),
  createdBy: actor,
  createdAtMs: timeMs,
  updatedAtMs: timeMs,
};

export const transactionCodec = remembering(
  documentCodec<Transaction>(
    'transaction',
    exactly<Transaction>()({ ...transactionFields, attempts: z.array(attempt) }),
  ),
);

/** Returns the transactions in some documents, without unreadable ones, which are logged. */
export function readableTransactions(documents: readonly string[]): readonly Transaction[] {
  return documents.flatMap((document) => readableOrNull(() => transactionCodec.decode(document)) ?? []);
}
