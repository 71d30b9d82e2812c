import { KeyRegistration, type CosignerVault } from '#cosigner/key/key-registration.ts';
import { VaultPolicies } from '#cosigner/key/vault-policies.ts';

/**
 * Returns the object of a vault over storage in this process, with the methods that a key calls.
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
