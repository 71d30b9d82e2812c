import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { DeviceKeyId, UserId } from '#domain/id.ts';
import type { Member } from '#domain/access/member.ts';
import { hasPermission } from '#domain/access/member.ts';
import { requiresExtraApproval } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { thresholdFor } from '#domain/policy/policy.ts';
import type { Transaction, Approval } from '#domain/transaction/transaction.ts';

/**
 * Reports whether an approval counts under a policy. It does not verify the signature: the
 * coordinator does so before it stores an approval, and a co-signer before it counts one
 * (`verifiedApprovals`).
 */
export function countsUnder(
  { actor: { userId }, device }: Pick<Approval, 'actor' | 'device'>,
  policy: Policy,
): boolean {
  if (!policy.signers.includes(userId)) return false;
  if (policy.approvalMode === 'token') return true;
  return policy.devices.some(({ keyId, userId: owner }) => keyId === device?.keyId && owner === userId);
}

/** Reports whether an approval lacks a device signature although the policy counts devices. */
export function lacksDeviceSignature({ device }: Pick<Approval, 'device'>, { approvalMode }: Policy): boolean {
  return approvalMode === 'device' && device === null;
}

/**
 * Returns the distinct signers whose approval of exactly this digest counts under a policy. The
 * approval of a removed signer does not count, and two tokens or devices of one signer count once
 * (spec part 3). The coordinator and every co-signer use this one rule.
 *
 * @param digest lower-case hex, of an intent or of the mandate of a policy
 */
export function countedApprovers(digest: string, approvals: readonly Approval[], policy: Policy): ReadonlySet<UserId> {
  return new Set(countedApprovals(digest, approvals, policy).map(({ actor }) => actor.userId));
}

/** Returns the approvals of exactly this digest that count under a policy. */
function countedApprovals(digest: string, approvals: readonly Approval[], policy: Policy): readonly Approval[] {
  return approvals.filter((approval) => approval.digest === digest && countsUnder(approval, policy));
}

/**
 * Reports whether the counted approvals include the device that the policy requires. An attacker
 * that serves or alters a page does not reach a device that signs outside a browser.
 */
export function hasRequiredDevice(digest: string, approvals: readonly Approval[], policy: Policy): boolean {
  if ((policy.rules.requiredDevice ?? 'any') === 'any') return true;
  return countedApprovals(digest, approvals, policy).some(({ device }) =>
    isRequiredDevice(device?.keyId ?? null, policy),
  );
}

/** Reports whether a device is of the kind that the policy requires. */
export function isRequiredDevice(keyId: DeviceKeyId | null, { rules, devices }: Policy): boolean {
  const { requiredDevice = 'any' } = rules;
  if (requiredDevice === 'any') return true;
  return devices.some((device) => device.keyId === keyId && device.algorithm === requiredDevice);
}

export function currentApprovers(
  { approvals, digest }: Pick<Transaction, 'approvals' | 'digest'>,
  policy: Policy,
): readonly UserId[] {
  return [...countedApprovers(digest, approvals, policy)];
}

/**
 * Returns the larger of the numbers that the policy at creation and the policy in force require:
 * lowering a threshold never approves anything by itself. An intent that needs an extra approval
 * requires one more, up to the number of signers. The coordinator and every co-signer use this one
 * rule.
 *
 * @param thresholdThen the number that the policy named by the intent requires (`thresholdFor`)
 */
export function requiredApprovalsFor(
  { intent, exposure }: Pick<Transaction, 'intent' | 'exposure'>,
  thresholdThen: number,
  now: Policy,
): number {
  const threshold = Math.max(thresholdThen, thresholdFor(now, exposure));
  return requiresExtraApproval(intent) ? Math.max(threshold, Math.min(threshold + 1, now.signers.length)) : threshold;
}

export function requiredApprovalsNow(
  transaction: Pick<Transaction, 'intent' | 'exposure' | 'requiredApprovals'>,
  policy: Policy,
): number {
  return requiredApprovalsFor(transaction, transaction.requiredApprovals, policy);
}

export function hasApproved(transaction: Pick<Transaction, 'approvals'>, userId: UserId): boolean {
  return transaction.approvals.some((approval) => approval.actor.userId === userId);
}

/**
 * Reports whether a pending transaction waits for the approval of a member: a signer who has not
 * approved it, or who has a device that the policy requires and no approval has.
 */
export function awaitsApprovalOf(
  member: Member,
  transaction: Pick<Transaction, 'digest' | 'approvals'>,
  policy: Policy,
): boolean {
  if (!hasPermission(member, 'decide')) return false;
  const { digest, approvals } = transaction;
  return !hasApproved(transaction, member.userId) || !hasRequiredDevice(digest, approvals, policy);
}

/**
 * Reports whether this decision was already recorded, so that a signer whose answer was lost can
 * simply repeat the request. An approval that a rejection, cancellation or expiry has undone is not
 * repeated but refused.
 */
export function isRepeatedDecision(transaction: Transaction, event: TransactionEvent): boolean {
  const undone = ['REJECTED', 'CANCELLED', 'EXPIRED'].includes(transaction.state);
  if (event.type === 'approve') return !undone && hasApproved(transaction, event.actor.userId);
  return event.type === 'reject' && transaction.rejection?.actor.userId === event.actor.userId;
}
