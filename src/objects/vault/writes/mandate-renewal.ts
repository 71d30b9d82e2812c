import { KEY_SCHEMES } from '#domain/asset/chain.ts';
import { missingDevices } from '#domain/policy/founding.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import { slotRefusal } from '#domain/policy/pending-changes.ts';
import type { NeededRenewal } from '#domain/policy/mandate-renewal.ts';
import type { Founding, Unfounded } from '#domain/policy/mandate-renewal.ts';
import { neededRenewals, renewalRefusal, unfoundedPolicy } from '#domain/policy/mandate-renewal.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { mandateDigest, policyHashOf } from '#devices/policy-succession.ts';
import type { RenewalRequest } from '#objects/vault/writes/policy-change-writes.ts';
import { openRenewal } from '#objects/vault/writes/policy-change-writes.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';

/**
 * Returns a new renewal, or the pending one of this version. Refuses, in order:
 * `policy-version-not-found`, `mandate-in-force`, `founding-incomplete`, what `slotRefusal`
 * refuses.
 */
export function newRenewal(
  storage: VaultStorage,
  vault: Vault,
  { version, note, actor }: RenewalRequest,
): Result<{ readonly change: PolicyChange; readonly isNew: boolean }, Refusal> {
  const { policies } = storage;
  const adopted = policies.adoptedAs(version);
  const refusal = renewalRefusal(adopted, { nowMs: Date.now(), unfounded: unfoundedOf(storage, vault) });
  if (refusal !== null || adopted === null) return refused(refusal ?? { code: 'policy-version-not-found' });
  const { policy } = adopted;
  const already = policies.pendingChangeTo(policyHashOf(policy));
  if (already !== null) return accepted({ change: already, isNew: false });
  const decider = policies.deciderOver({ renewsVersion: version }, vault.policy);
  const change = openRenewal(vault, { policy, note, actor }, decider);
  const full = slotRefusal(policies.pendingChanges(), change, vault.policy);
  return full === null ? accepted({ change, isNew: true }) : refused(full);
}

/** Returns the versions that co-signers cannot adopt before their mandates are renewed. */
export function renewalsNeededBy(storage: VaultStorage, vault: Vault): readonly NeededRenewal[] {
  const { keys, expiredAdoptions } = vault;
  if (keys.length > 0 && expiredAdoptions.length === 0) return [];
  if (keys.length === 0 && hasKeyCandidate(storage)) return [];
  const isWaiting = storage.queuedJob('', keys.length === 0 ? 'generate-key' : 'adopt-policy') !== null;
  const refusedBy = keys.length === 0 ? null : expiredAdoptions;
  // A vault without a key is founded first, which `foundingOf` states.
  const unfounded = keys.length === 0 ? null : unfoundedOf(storage, vault);
  const terms = { nowMs: Date.now(), unfounded };
  return isWaiting ? neededRenewals(storage.policies.adopted(), refusedBy, terms) : [];
}

/**
 * Reports whether the co-signers made a key that only lacks a proof. They adopted the policies
 * together with it.
 */
export function hasKeyCandidate(storage: VaultStorage): boolean {
  return KEY_SCHEMES.some((scheme) => storage.keyCandidate(scheme) !== null);
}

/** Returns what is missing from the founding of a vault, or null. */
export function foundingOf(storage: VaultStorage, vault: Vault): Founding | null {
  const unfounded = unfoundedOf(storage, vault);
  if (unfounded === null) return null;
  const { policies } = storage;
  const adopted = policies.adoptedAs(unfounded.version);
  const change = adopted === null ? null : policies.pendingChangeTo(policyHashOf(adopted.policy));
  if (change === null) return { ...unfounded, changeId: null };
  const missing = missingDevices(change.digest, change.approvals, change.policy);
  return { ...unfounded, missing, changeId: change.id };
}

/**
 * Returns the first policy in device mode that co-signers do not take, because not all of
 * its devices have approved it; null when there is none. Co-signers with a key of the
 * vault have taken its policies, except those that they refused.
 */
export function unfoundedOf(storage: VaultStorage, { keys, expiredAdoptions }: Vault): Unfounded | null {
  if (keys.length > 0 && expiredAdoptions.length === 0) return null;
  const unfounded = unfoundedPolicy(storage.policies.adopted(), mandateDigest);
  const isRefused = expiredAdoptions.some(({ version }) => version === unfounded?.version);
  return keys.length === 0 || isRefused ? unfounded : null;
}
