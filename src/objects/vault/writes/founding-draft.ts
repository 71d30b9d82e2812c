import type { Actor, Operator } from '#domain/access/approval.ts';
import { withPolicy } from '#domain/vault/membership.ts';
import { missingDeviceFault } from '#domain/policy/policy.ts';
import type { PolicyPatchFault } from '#domain/vault/next-policy.ts';
import { nextDraft } from '#domain/vault/next-policy.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { hasKeyCandidate, unfoundedOf } from '#objects/vault/writes/mandate-renewal.ts';
import type { Proposal } from '#objects/vault/writes/policy-change-writes.ts';
import { openChange, openRenewal, supersede, writeNewChange } from '#objects/vault/writes/policy-change-writes.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/**
 * The policy of a vault that is being founded. No co-signer takes version 1 before all of its
 * devices have approved it, so until then it is a draft: a proposed change replaces it at once, and
 * the founding starts again with the new one. A person without a terminal thus adds a passkey to
 * it. The approvals of the founding decide, and each of them is given after the whole policy was
 * read.
 */

/** Reports whether version 1 of a vault is a draft. Co-signers that made a key have taken it. */
export function isDraft(storage: VaultStorage, vault: Vault): boolean {
  const isUntaken = vault.keys.length === 0 && !hasKeyCandidate(storage);
  return isUntaken && vault.policy.version === 1 && unfoundedOf(storage, vault) !== null;
}

/**
 * Returns an adopted change to the draft that no approval decided. Refuses, in order: what
 * `nextDraft` refuses, `policy-unchanged`.
 */
export function newDraft(
  vault: Vault,
  { patch, note, actor }: Proposal,
): Result<PolicyChange, PolicyPatchFault | Refusal> {
  const edited = nextDraft(vault, patch);
  if (!edited.ok) return edited;
  const policy = edited.value;
  if (policyHashOf(policy) === policyHashOf(vault.policy)) return refused({ code: 'policy-unchanged' });
  const change = openChange(vault, { policy, note, actor }, policy);
  return accepted({ ...change, state: 'ADOPTED', requiredApprovals: 0 });
}

/**
 * Replaces the draft, and returns the vault under it. All pending changes follow the draft before
 * and are superseded, the founding among them. Runs inside a commit.
 */
export function writeDraft(storage: VaultStorage, vault: Vault, change: PolicyChange, actor: Actor | Operator): Vault {
  const { policy } = change;
  supersede(storage, vault, storage.policies.pendingChanges());
  const digest = policyHashOf(policy);
  storage.policies.putChange(change, digest);
  storage.policies.replaceDraft(policy, digest);
  const governed = withPolicy(vault, policy);
  storage.putVault(governed);
  writeVaultChange(storage, governed, { action: 'change-draft', detail: change.id, digest, actor });
  writeFounding(storage, governed);
  return governed;
}

/** Opens the founding of a vault in device mode, unless the policy lacks devices. */
export function writeFounding(storage: VaultStorage, vault: Vault): void {
  const { policy } = vault;
  if (policy.approvalMode === 'token' || missingDeviceFault(policy) !== null) return;
  writeNewChange(storage, vault, openRenewal(vault, { policy, note: null, actor: null }, policy));
}
