import type { VaultId } from '#domain/id.ts';
import type { VaultObject } from '#objects/vault/object.ts';

/** Returns the object of a vault. Its name is made here alone: another spelling would be another object, and an empty one. */
export function vaultStub(env: { readonly VAULT: DurableObjectNamespace<VaultObject> }, id: VaultId) {
  return env.VAULT.getByName(`vault:${id}`);
}
