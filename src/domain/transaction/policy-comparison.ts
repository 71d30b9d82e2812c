import type { Policy } from '#domain/policy/policy.ts';
import { thresholdFor } from '#domain/policy/policy.ts';
import type { RuleViolation } from '#domain/policy/rules.ts';
import { amountUnder, DAY_MS, dailyLimitViolation, ruleViolation } from '#domain/policy/rules.ts';
import { requiredApprovalsFor } from '#domain/transaction/approvals.ts';
import type { AssetRef } from '#domain/asset/exposure.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { spends } from '#domain/transaction/transaction.ts';

/** The parts of a transaction on which the decision of a policy depends. */
export type PastTransaction = Pick<Transaction, 'id' | 'intent' | 'exposure' | 'state' | 'createdAtMs'>;

/** What a policy requires of a transaction that is created under it. */
export interface PolicyDecision {
  readonly requiredApprovals: number;
  /** The rule that refuses it, or null. */
  readonly forbiddenBy: RuleViolation | null;
}

/** A transaction that one of two policies decides in another way. */
export interface DecidedDifferently {
  readonly id: Transaction['id'];
  readonly before: PolicyDecision;
  readonly after: PolicyDecision;
}

/**
 * Returns the transactions that a policy decides in another way than the policy in force, newest
 * first. Both policies decide as though each transaction had been created under them, whatever was
 * decided at the time.
 *
 * @param transactions newest first
 */
export function comparePolicies(
  transactions: readonly PastTransaction[],
  { inForce, proposed }: { readonly inForce: Policy; readonly proposed: Policy },
): readonly DecidedDifferently[] {
  const [before, after] = [decisionsUnder(inForce, transactions), decisionsUnder(proposed, transactions)];
  return transactions.flatMap(({ id }) => {
    const [old, next] = [before.get(id), after.get(id)];
    if (old === undefined || next === undefined || isSame(old, next)) return [];
    return [{ id, before: old, after: next }];
  });
}

/** Reports whether two decisions have the same outcome, whichever rule refuses. */
function isSame(one: PolicyDecision, other: PolicyDecision): boolean {
  const isRefused = one.forbiddenBy !== null;
  if (isRefused !== (other.forbiddenBy !== null)) return false;
  return isRefused || one.requiredApprovals === other.requiredApprovals;
}

/**
 * Returns the decision of a policy on each transaction, at its creation. The spending of the 24
 * hours before it consists of the given transactions that spent and that the policy allows.
 *
 * @param newestFirst transactions, the newest first
 */
function decisionsUnder(policy: Policy, newestFirst: readonly PastTransaction[]): ReadonlyMap<string, PolicyDecision> {
  const { rules } = policy;
  const decisions = new Map<string, PolicyDecision>();
  const spending: PastTransaction[] = [];
  for (const transaction of newestFirst.toReversed()) {
    const { id, intent, exposure, state, createdAtMs } = transaction;
    const spentOf = (asset: AssetRef) =>
      spending
        .filter((earlier) => earlier.createdAtMs > createdAtMs - DAY_MS)
        .reduce((sum, earlier) => sum + amountUnder(rules, earlier.exposure, asset), 0n);
    const forbiddenBy = ruleViolation(rules, exposure) ?? dailyLimitViolation(rules, exposure, spentOf);
    const requiredApprovals = requiredApprovalsFor({ intent, exposure }, thresholdFor(policy, exposure), policy);
    decisions.set(id, { requiredApprovals, forbiddenBy });
    if (forbiddenBy === null && spends(state)) spending.push(transaction);
  }
  return decisions;
}
