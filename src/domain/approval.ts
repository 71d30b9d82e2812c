import type { UserId } from '#domain/id.ts';
import type { Intent } from '#domain/intent.ts';
import { wantsOneMore } from '#domain/intent.ts';
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

/**
 * The larger of the threshold at creation and the one of now: lowering it never approves anything by itself. One more for an
 * intent that wants it, as far as there are signers. The coordinator and every co-signer count by this one rule.
 *
 * @param thresholdThen of the policy that the intent names
 */
export function voicesNeeded(intent: Intent, thresholdThen: number, now: Policy): number {
  const threshold = Math.max(thresholdThen, now.threshold);
  return wantsOneMore(intent) ? Math.max(threshold, Math.min(threshold + 1, now.signers.length)) : threshold;
}

export function approvalsNeeded(
  { intent, requiredApprovals }: Pick<Transaction, 'intent' | 'requiredApprovals'>,
  policy: Policy,
): number {
  return voicesNeeded(intent, requiredApprovals, policy);
}

export function hasApproved(transaction: Pick<Transaction, 'approvals'>, userId: UserId): boolean {
  return transaction.approvals.some((vote) => vote.actor.userId === userId);
}
