import { countedApprovers, hasRequiredDevice } from '#domain/policy/counted-approvals.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { UserId } from '#domain/id.ts';
import type { Member } from '#domain/access/member.ts';
import { hasPermission, mayCancel } from '#domain/access/member.ts';
import { requiresExtraApproval } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { thresholdFor } from '#domain/policy/policy.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { endedUnapproved, isFinal, isPending, isStoppable } from '#domain/transaction/transaction.ts';

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

/** Reports whether a signer has rejected a transaction that goes on. */
export function hasRejected(transaction: Pick<Transaction, 'openRejections'>, userId: UserId): boolean {
  return (transaction.openRejections ?? []).some(({ actor }) => actor.userId === userId);
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
  if (event.type !== 'reject') return false;
  const { userId } = event.actor;
  return transaction.rejection?.actor.userId === userId || hasRejected(transaction, userId);
}

/**
 * Reports whether a member may cancel a transaction: as in `mayCancel`, and any signer may cancel a
 * transaction that waits to be signed or mined. In device mode the token of a signer is no signer,
 * so a signer stops it by a rejection instead.
 */
export function mayCancelTransaction(
  member: Member,
  transaction: Pick<Transaction, 'state' | 'inclusion' | 'createdBy'>,
  { approvalMode }: Pick<Policy, 'approvalMode'>,
): boolean {
  const isOnItsWay = isStoppable(transaction) && approvalMode === 'token' && hasPermission(member, 'decide');
  return isOnItsWay || mayCancel(member, transaction.createdBy.userId);
}

/**
 * Reports whether a member may hide a transaction of the vault from the lists of all members: its
 * creator until a signer has decided to pay, an admin then after its end. Otherwise an initiator
 * could hide from the signers what the vault pays.
 */
export function mayHide(member: Member, transaction: Pick<Transaction, 'state' | 'createdBy' | 'approvals'>): boolean {
  const { state, createdBy } = transaction;
  if (isPending(state) || endedUnapproved(transaction)) return mayCancel(member, createdBy.userId);
  return isFinal(state) && hasPermission(member, 'administer');
}
