import { policyHashOf } from '#devices/policy-succession.ts';
import { authorize } from '#domain/vault/membership.ts';
import type { PolicyChangeId } from '#domain/id.ts';
import type { PolicyPatch, PolicyPatchFault } from '#domain/vault/next-policy.ts';
import { nextDraft, nextPolicy } from '#domain/vault/next-policy.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { isRenewal } from '#domain/policy/policy-change.ts';
import type { DecidedDifferently } from '#domain/transaction/policy-comparison.ts';
import { comparePolicies } from '#domain/transaction/policy-comparison.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { isDraft } from '#objects/vault/writes/founding-draft.ts';

/** Ours: about what a person reads, and one read of the object. */
const MAX_COMPARED = 100;

/** The policy that is compared with the one in force: of a pending change, or by a patch. */
export type ComparedPolicy = { readonly changeId: PolicyChangeId } | { readonly patch: PolicyPatch };

export interface PolicyComparison {
  /** The number of transactions that were read. */
  readonly compared: number;
  /** Newest first. */
  readonly different: readonly DecidedDifferently[];
}

/**
 * Returns the newest transactions of the vault that another policy would have decided in another
 * way than the policy in force. Nothing is changed. Refuses, in order: `forbidden`,
 * `policy-change-not-found`, `policy-change-not-pending`, what `nextPolicy` or `nextDraft` refuses.
 */
export function comparePolicy(
  context: VaultContext,
  actor: Actor,
  { compared }: { readonly compared: ComparedPolicy },
): Result<PolicyComparison, PolicyPatchFault | Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const { vault } = entered.value;
  const proposed = proposedBy(context, vault, compared);
  if (!proposed.ok) return proposed;
  const transactions = context.storage.newestSubmitted(MAX_COMPARED);
  const different = comparePolicies(transactions, { inForce: vault.policy, proposed: proposed.value });
  return accepted({ compared: transactions.length, different });
}

function proposedBy(
  { storage }: VaultContext,
  vault: Vault,
  compared: ComparedPolicy,
): Result<Policy, PolicyPatchFault | Refusal> {
  const { policy } = vault;
  if ('patch' in compared) {
    return isDraft(storage, vault)
      ? nextDraft(vault, compared.patch)
      : nextPolicy(vault, compared.patch, policyHashOf(policy));
  }
  const change = storage.policies.change(compared.changeId);
  if (change === null) return refused({ code: 'policy-change-not-found' });
  if (change.state !== 'PENDING') return refused({ code: 'policy-change-not-pending', state: change.state });
  // A renewal puts no other policy in force.
  return accepted(isRenewal(change) ? policy : change.policy);
}
