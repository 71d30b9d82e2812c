import * as z from 'zod';
import type { Activity, ActivityBlock } from '#domain/activity/activity.ts';
import { ACTIVITY_REASONS } from '#domain/activity/activity.ts';
import type { HiddenPart } from '#domain/activity/shown-part.ts';
import type { HiddenAsset } from '#domain/activity/spam.ts';
import { HIDDEN_REASONS } from '#domain/activity/spam.ts';
import type { Balance } from '#domain/asset/balance.ts';
import { ADJUSTMENT_REASONS } from '#domain/asset/balance.ts';
import {
  amount,
  assetFields,
  displayType,
  signedAmount,
  timeMs,
  tokenLabel,
  transactionId,
  usdValue,
  vaultId,
  walletMovements,
} from '#objects/vault/documents/fields.ts';
import { documentCodec, exactly } from '#store/document.ts';

const hiddenReason = z.enum(HIDDEN_REASONS).nullable();

const hiddenPart = exactly<HiddenPart>()({
  assets: z.array(exactly<HiddenAsset>()({ tokenAddress: z.string().nullable(), reason: z.enum(HIDDEN_REASONS) })),
  shownMovementCount: z.int(),
  usdValue: usdValue.nullable(),
});

export const activityFields = {
  ...walletMovements,
  id: transactionId,
  vaultId,
  version: z.int(),
  hash: z.string(),
  signer: z.string().nullable(),
  fee: amount.nullable(),
  memo: z.string().exactOptional(),
  block: exactly<ActivityBlock>()({
    number: z.string(),
    hash: z.string(),
    confirmations: z.int(),
    isFinal: z.boolean(),
  }).nullable(),
  state: z.enum(['BROADCAST', 'CONFIRMING', 'SUCCEEDED', 'FAILED']),
  stateReason: z.enum(ACTIVITY_REASONS).nullable(),
  displayType,
  direction: z.enum(['in', 'out']),
  visible: z.boolean(),
  visibilityChoice: z.boolean().nullable(),
  hiddenReason,
  suspicion: hiddenReason,
  hiddenPart: hiddenPart.nullable().exactOptional(),
  usdValue: usdValue.nullable(),
  tokens: z.array(tokenLabel),
  appraisalPending: z.boolean(),
  isOmitted: z.boolean().exactOptional(),
  chain: z.string(),
  wallet: z.string(),
  createdAtMs: timeMs,
  updatedAtMs: timeMs,
};

export const activityCodec = documentCodec<Activity>('activity', exactly<Activity>()(activityFields));

export const balanceCodec = documentCodec<Balance>(
  'balance',
  exactly<Balance>()({
    ...assetFields,
    final: signedAmount,
    late: signedAmount,
    check: z.object({ blockNumber: z.string(), atMs: timeMs }).nullable(),
    difference: z.object({ units: signedAmount, sinceMs: timeMs, differingSinceMs: timeMs }).nullable(),
    adjustment: z
      .strictObject({
        units: signedAmount,
        reason: z.enum(ADJUSTMENT_REASONS),
        fromBlock: z.string().nullable(),
        toBlock: z.string(),
        atMs: timeMs,
      })
      .nullable(),
    adjustedInRow: z.int(),
  }),
);
