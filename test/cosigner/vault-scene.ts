import { KeyRegistration, type CosignerVault } from '#cosigner/key/key-registration.ts';
import { VaultPolicies } from '#cosigner/key/vault-policies.ts';

/**
 * Returns a co-signer's vault object over storage in this process, with the methods that its key
 * objects call.
 */
export function vaultObject(sql: SqlStorage): CosignerVault {
  const vault = new VaultPolicies(sql);
  return {
    vaultPolicies: async () => vault.list(),
    extendVault: async (chain) => vault.extend(chain),
    extendVaultByNewKey: async (chain) => vault.extendByNewKey(chain),
  };
}

/**
 * Returns the registration of the only key of a vault. The key and the vault object share their
 * storage.
 */
export function registrationIn(sql: SqlStorage): KeyRegistration {
  return new KeyRegistration(sql, () => vaultObject(sql));
}
