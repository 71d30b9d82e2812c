import type { CosignerVault } from '#cosigner/policy/vault-policies.ts';
import { VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { memorySql } from '../objects/memory-sql.ts';

/** Returns the storage of a co-signer's vault object with these policies, pinned by a key. */
export function pinnedPolicies(...policies: readonly Policy[]): VaultPolicies {
  const vault = new VaultPolicies(memorySql());
  vault.adopt(policies);
  const head = policies.at(-1);
  if (head !== undefined) vault.pin({ version: head.version, hash: policyHashOf(head) });
  return vault;
}

/** Returns the storage of a vault object that lost its policies, and then received these. */
export function unpinnedPolicies(...policies: readonly Policy[]): VaultPolicies {
  const vault = new VaultPolicies(memorySql());
  vault.adopt(policies);
  return vault;
}

/** Returns a co-signer's vault object, with the methods that its key objects call. */
export function vaultObject(vault: VaultPolicies): CosignerVault {
  return {
    policies: async (version) => vault.view(version),
    pin: async (head) => vault.pin(head),
  };
}
