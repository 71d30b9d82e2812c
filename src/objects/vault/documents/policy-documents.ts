import * as z from 'zod';
import { APPROVAL_MODES } from '#domain/access/device.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import { POLICY_CHANGE_STATES } from '#domain/policy/change-state.ts';
import type { FeeCap, PolicyToken } from '#domain/policy/optional-rules.ts';
import { REQUIRED_DEVICES, SIGN_ONCE_MODES, UNBOUND_MESSAGE_RULES } from '#domain/policy/optional-rules.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy, PolicyChange } from '#domain/policy/policy-change.ts';
import type { AddressBookEntry, AssetLimit, HigherThreshold, Rules } from '#domain/policy/rules.ts';
import {
  actor,
  amount,
  approval,
  device,
  digest,
  policyChangeId,
  rejection,
  timeMs,
  userId,
  vaultId,
} from '#objects/vault/documents/fields.ts';
import { documentCodec, exactly } from '#store/document.ts';

const asset = { chain: z.string(), tokenAddress: z.string().nullable() };

const rules = exactly<Rules>()({
  addressBook: z.array(exactly<AddressBookEntry>()({ chain: z.string(), address: z.string(), name: z.string() })),
  recipients: z.enum(['anyone', 'address-book']),
  limits: z.array(exactly<AssetLimit>()({ ...asset, perTransaction: amount.nullable(), perDay: amount.nullable() })),
  higherThresholds: z.array(exactly<HigherThreshold>()({ ...asset, above: amount, threshold: z.int() })),
  unreadableThreshold: z.int().nullable(),
  signOnce: z.enum(SIGN_ONCE_MODES).exactOptional(),
  limitsIncludeFees: z.boolean().exactOptional(),
  maxFees: z.array(exactly<FeeCap>()({ chain: z.string(), amount })).exactOptional(),
  requiredDevice: z.enum(REQUIRED_DEVICES).exactOptional(),
  unboundMessages: z.enum(UNBOUND_MESSAGE_RULES).exactOptional(),
  tokens: z
    .array(
      exactly<PolicyToken>()({
        chain: z.string(),
        tokenAddress: z.string(),
        symbol: z.string(),
        decimals: z.int(),
      }),
    )
    .exactOptional(),
  rejections: z.int().exactOptional(),
  excludedMembers: z.array(userId).exactOptional(),
});

export const policy = exactly<Policy>()({
  vaultId,
  version: z.int(),
  signers: z.array(userId),
  threshold: z.int(),
  signingThreshold: z.int(),
  approvalMode: z.enum(APPROVAL_MODES),
  devices: z.array(device),
  rules,
  previousHash: digest,
  cosigners: z.array(exactly<CosignerPin>()({ index: z.int(), signing: digest })).exactOptional(),
});

const mandate = {
  id: policyChangeId,
  policy,
  note: z.string().nullable(),
  createdAtMs: timeMs,
  expiresAtMs: timeMs,
};

export const adoptedPolicyCodec = documentCodec<AdoptedPolicy>(
  'policy',
  exactly<AdoptedPolicy>()({
    policy,
    mandate: z.object({ ...mandate, approvals: z.array(approval) }).nullable(),
  }),
);

export const policyChangeCodec = documentCodec<PolicyChange>(
  'policy change',
  exactly<PolicyChange>()({
    ...mandate,
    decisionEndsAtMs: timeMs,
    renewsVersion: z.int().exactOptional(),
    digest,
    requiredApprovals: z.int(),
    state: z.enum(POLICY_CHANGE_STATES),
    approvals: z.array(approval),
    rejections: z.array(rejection),
    createdBy: actor.nullable(),
    updatedAtMs: timeMs,
  }),
);
