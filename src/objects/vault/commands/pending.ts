import { authorize } from '#domain/vault/membership.ts';
import { isOpen } from '#domain/access/credential-reset.ts';
import type { CredentialReset } from '#domain/access/credential-reset.ts';
import type { Member } from '#domain/access/member.ts';
import { cancellationRefusal } from '#domain/access/reset-cancellation.ts';
import type { CredentialResetId, PolicyChangeId, TransactionId } from '#domain/id.ts';
import { awaitsChangeApprovalOf } from '#domain/policy/policy-change.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import { awaitsApprovalOf, hasRejected } from '#domain/transaction/approvals.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { VaultContext } from '#objects/vault/context.ts';

/** Something that waits for the decision of one member. */
export type PendingDecision = { readonly deadlineMs: number } & (
  | { readonly kind: 'transaction'; readonly id: TransactionId }
  | { readonly kind: 'policy-change'; readonly id: PolicyChangeId }
  | { readonly kind: 'credential-reset'; readonly id: CredentialResetId }
);

/** What waits for one member in one vault. */
export interface PendingDecisions {
  /** The name of the vault. */
  readonly name: string;
  readonly decisions: readonly PendingDecision[];
  /** False when the vault has more transactions than it reads at once, or unreadable ones. */
  readonly isComplete: boolean;
}

/** Ours: ten times the default of `mostPending`. */
const MAX_TRANSACTIONS = 1_000;

/**
 * Returns what waits for the decision of a member now: transactions and policy changes that the
 * member can approve, and credential resets of other members that the member can cancel. Nothing
 * whose time is over is included, even before the alarm has ended it. Refuses `forbidden`.
 */
export function pendingDecisions(context: VaultContext, actor: Actor): Result<PendingDecisions, Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const { vault, viewer } = entered.value;
  const { policy } = vault;
  const { storage } = context;
  const nowMs = Date.now();
  const transactions = storage.pendingByDeadline(MAX_TRANSACTIONS);
  const decisions: readonly PendingDecision[] = [
    ...transactions
      .filter(
        (transaction) => awaitsApprovalOf(viewer, transaction, policy) && !hasRejected(transaction, viewer.userId),
      )
      .map(({ id, intent }) => ({ kind: 'transaction', id, deadlineMs: intent.expiresAtMs }) as const),
    ...storage.policies
      .pendingChanges()
      .filter((change) => awaitsChangeApprovalOf(viewer, change, storage.policies.deciderOver(change, policy)))
      .map(({ id, decisionEndsAtMs }) => ({ kind: 'policy-change', id, deadlineMs: decisionEndsAtMs }) as const),
  ].filter(({ deadlineMs }) => nowMs < deadlineMs);
  const resets = storage.resets
    .pending()
    .filter((reset) => isOpen(reset, nowMs) && mayCancelReset(context, viewer, { reset, nowMs }))
    .map(({ id, effectiveAtMs }) => ({ kind: 'credential-reset', id, deadlineMs: effectiveAtMs }) as const);
  return accepted({
    name: vault.configuration.name,
    decisions: [...decisions, ...resets],
    isComplete: transactions.length === storage.pending.all(),
  });
}

/**
 * Reports whether a member can cancel the reset of another one. The object of that person decides;
 * this vault has no cancellation from before the person was its member.
 */
function mayCancelReset(
  { storage }: VaultContext,
  { userId }: Member,
  { reset, nowMs }: { readonly reset: CredentialReset; readonly nowMs: number },
): boolean {
  if (reset.userId === userId) return false;
  const lastCancelledAtMs = storage.resets.lastCancelledAtMs(reset.userId, userId);
  return cancellationRefusal(reset, { userId, isProven: true }, { lastCancelledAtMs, nowMs }) === null;
}
