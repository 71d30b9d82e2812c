import type { VaultId } from '#domain/id.ts';
import type { VaultObject } from '#objects/vault/object.ts';

/**
 * Returns the object of a vault. Only this function constructs its name: another spelling would be
 * another, empty object.
 */
export function vaultStub(env: { readonly VAULT: DurableObjectNamespace<VaultObject> }, id: VaultId) {
  return env.VAULT.getByName(`vault:${id}`);
}
