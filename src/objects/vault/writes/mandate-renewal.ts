import { KEY_SCHEMES } from '#domain/asset/chain.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import { slotRefusal } from '#domain/policy/pending-changes.ts';
import type { NeededRenewal } from '#domain/policy/mandate-renewal.ts';
import { neededRenewals, renewalRefusal } from '#domain/policy/mandate-renewal.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Vault } from '#domain/vault.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { RenewalRequest } from '#objects/vault/writes/policy-change-writes.ts';
import { openChange } from '#objects/vault/writes/policy-change-writes.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';

/**
 * Returns a new renewal, or the pending one of this version. Refuses, in order:
 * `policy-version-not-found`, `mandate-in-force`, what `slotRefusal` refuses.
 */
export function newRenewal(
  storage: VaultStorage,
  vault: Vault,
  { version, note, actor }: RenewalRequest,
): Result<{ readonly change: PolicyChange; readonly isNew: boolean }, Refusal> {
  const { policies } = storage;
  const adopted = policies.adoptedAs(version);
  const refusal = renewalRefusal(adopted, Date.now());
  if (refusal !== null || adopted === null) return refused(refusal ?? { code: 'policy-version-not-found' });
  const { policy } = adopted;
  const already = policies.pendingChangeTo(policyHashOf(policy));
  if (already !== null) return accepted({ change: already, isNew: false });
  const decider = policies.deciderOver({ renewsVersion: version }, vault.policy);
  const change = { ...openChange(vault, { policy, note, actor }, decider), renewsVersion: version };
  const full = slotRefusal(policies.pendingChanges(), change, vault.policy);
  return full === null ? accepted({ change, isNew: true }) : refused(full);
}

/** Returns the versions that co-signers cannot adopt before their mandates are renewed. */
export function renewalsNeededBy(storage: VaultStorage, vault: Vault): readonly NeededRenewal[] {
  const { keys, expiredAdoptions } = vault;
  if (keys.length > 0 && expiredAdoptions.length === 0) return [];
  // Co-signers adopted the policies together with the key candidate, which only lacks a proof.
  if (keys.length === 0 && KEY_SCHEMES.some((scheme) => storage.keyCandidate(scheme) !== null)) return [];
  const isWaiting = storage.queuedJob('', keys.length === 0 ? 'generate-key' : 'adopt-policy') !== null;
  const refusedBy = keys.length === 0 ? null : expiredAdoptions;
  return isWaiting ? neededRenewals(storage.policies.adopted(), refusedBy, Date.now()) : [];
}
