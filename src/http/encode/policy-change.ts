import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import type { Chain } from '#domain/asset/chain.ts';
import {
  awaitsChangeApprovalOf,
  isExcluded,
  mandateBytes,
  mayCancelChange,
  mayReject,
} from '#domain/policy/policy-change.ts';
import type { Approval } from '#domain/access/approval.ts';
import { POLICY_CHANGE_STATES } from '#domain/policy/change-state.ts';
import { approvalRecord, rejectionRecord } from '#http/encode/transaction.ts';
import { approvalSchema, rejectionSchema } from '#http/encode/transaction-schema.ts';
import { rejectionOf } from '#devices/rejection.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import { policyRecord, policySchema } from '#http/encode/policy.ts';
import type { PolicyChangeView } from '#objects/vault/views.ts';

const text = z.string();
const time = z.iso.datetime();

/** The schema of a policy change. */
export const policyChangeSchema = z
  .strictObject({
    id: text,
    vaultId: z.int(),
    state: z.enum(POLICY_CHANGE_STATES),
    renewsVersion: z
      .int()
      .nullable()
      .meta({
        description:
          'The version whose expired mandate the change renews; policy is then the adopted policy of that version. ' +
          'Null for an ordinary change.',
      }),
    policy: policySchema.meta({ description: 'The complete policy that the change would put in force' }),
    note: text.nullable(),
    digest: text.meta({ description: 'Hex SHA-256 of the field `canonical`. Every approval refers to it' }),
    canonical: text.meta({
      description: 'Canonical bytes of the mandate, in hex; they include the hash of the policy',
    }),
    rejection: z.strictObject({ canonical: text, digest: text }).meta({
      description:
        'What a device signs to reject the change: `digest` is the hex SHA-256 of the bytes `canonical`, which have ' +
        'another domain than those of an approval',
    }),
    requiredApprovals: z.int().meta({
      description: '0 for a change before the vault was founded, which was adopted at once',
    }),
    approvals: z.array(approvalSchema),
    rejections: z.array(rejectionSchema).meta({
      description:
        'The change ends as REJECTED when the signers who have not rejected it can no longer adopt it. `digest` is the ' +
        'one of the change; the device signed `rejection.digest`',
    }),
    actionsForMe: z.array(z.enum(['approve', 'reject', 'cancel'])),
    createdBy: text.nullable().meta({ description: 'Null when an operator created the change' }),
    createdAt: time,
    updatedAt: time,
    expiresAt: time.meta({ description: 'Signers can approve or reject until this time' }),
    mandateEndsAt: time.meta({
      description:
        'Co-signers adopt the policy until this time. It is part of the signed bytes, so the mandate is void ' +
        'afterwards.',
    }),
  })
  .meta({ id: 'PolicyChange' });

/** Returns a policy change as its reader receives it. */
export function policyChangeRecord(
  view: PolicyChangeView,
  chains: readonly Chain[],
): z.infer<typeof policyChangeSchema> {
  const { change } = view;
  return {
    id: change.id,
    vaultId: change.policy.vaultId,
    state: change.state,
    renewsVersion: change.renewsVersion ?? null,
    policy: policyRecord(change.policy, chains),
    note: change.note,
    digest: change.digest,
    canonical: bytesToHex(mandateBytes(change, policyHashOf(change.policy))),
    rejection: rejectionOf(change),
    requiredApprovals: change.requiredApprovals,
    approvals: change.approvals.map(approvalRecord),
    rejections: change.rejections.map(rejectionRecord),
    actionsForMe: actionsFor(view),
    createdBy: change.createdBy?.userId ?? null,
    createdAt: rfc3339(change.createdAtMs),
    updatedAt: rfc3339(change.updatedAtMs),
    expiresAt: rfc3339(change.decisionEndsAtMs),
    mandateEndsAt: rfc3339(change.expiresAtMs),
  };
}

function actionsFor({ change, policy, decider, viewer }: PolicyChangeView): ('approve' | 'reject' | 'cancel')[] {
  if (change.state !== 'PENDING' || viewer === null) return [];
  if (isExcluded(change, viewer.userId, decider)) return [];
  const isOwn = ({ actor }: Approval) => actor.userId === viewer.userId;
  return [
    ...(awaitsChangeApprovalOf(viewer, change, decider) ? ['approve' as const] : []),
    ...(mayReject(viewer, change, decider) && !change.rejections.some(isOwn) ? ['reject' as const] : []),
    ...(mayCancelChange(viewer, change, policy) ? ['cancel' as const] : []),
  ];
}
