import type { UserId } from '#domain/id.ts';
import type { Policy } from '#domain/policy.ts';
import type { Transaction } from '#domain/transaction.ts';

/**
 * Votes count only for signers of now, each person once, and only for exactly this intent: a removed signer's vote is gone,
 * two tokens of one person are one voice (spec part 3, reliability B2 row 6).
 */
export function approvers(transaction: Pick<Transaction, 'approvals' | 'digest'>, policy: Policy): readonly UserId[] {
  const voices = new Set<UserId>();
  for (const vote of transaction.approvals) {
    if (vote.digest === transaction.digest && policy.signers.includes(vote.actor.userId)) voices.add(vote.actor.userId);
  }
  return [...voices];
}

/** The larger of the threshold at creation and the one of now: lowering it never approves anything by itself. */
export function approvalsNeeded(transaction: Pick<Transaction, 'requiredApprovals'>, policy: Policy): number {
  return Math.max(transaction.requiredApprovals, policy.threshold);
}

export function hasApproved(transaction: Pick<Transaction, 'approvals'>, userId: UserId): boolean {
  return transaction.approvals.some((vote) => vote.actor.userId === userId);
}
