import type { TransactionEvent } from '#domain/event.ts';
import type { UserId } from '#domain/id.ts';
import { wantsOneMore } from '#domain/intent.ts';
import type { Policy } from '#domain/policy.ts';
import { thresholdFor } from '#domain/policy.ts';
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
 * The larger of what the policy at creation asks for and what the one of now does: lowering a threshold never approves anything by
 * itself. One more for an intent that wants it, as far as there are signers. The coordinator and every co-signer count by this one
 * rule.
 *
 * @param thresholdThen what the policy that the intent names asks for it (`thresholdFor`)
 */
export function voicesNeeded(
  { intent, exposure }: Pick<Transaction, 'intent' | 'exposure'>,
  thresholdThen: number,
  now: Policy,
): number {
  const threshold = Math.max(thresholdThen, thresholdFor(now, exposure));
  return wantsOneMore(intent) ? Math.max(threshold, Math.min(threshold + 1, now.signers.length)) : threshold;
}

export function approvalsNeeded(
  transaction: Pick<Transaction, 'intent' | 'exposure' | 'requiredApprovals'>,
  policy: Policy,
): number {
  return voicesNeeded(transaction, transaction.requiredApprovals, policy);
}

export function hasApproved(transaction: Pick<Transaction, 'approvals'>, userId: UserId): boolean {
  return transaction.approvals.some((vote) => vote.actor.userId === userId);
}

/**
 * Whether this voice was already taken, so that a signer whose answer was lost may simply ask again. An approval that a
 * rejection or the expiry has undone is not repeated but refused.
 */
export function isRepeatedVote(transaction: Transaction, event: TransactionEvent): boolean {
  const undone = ['REJECTED', 'CANCELLED', 'EXPIRED'].includes(transaction.state);
  if (event.type === 'approve') return !undone && hasApproved(transaction, event.actor.userId);
  return event.type === 'reject' && transaction.rejection?.actor.userId === event.actor.userId;
}
