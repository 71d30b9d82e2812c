import type { VaultId } from '#domain/id.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

/**
 * The object of a vault, as its callers see it. The types of the platform lose the type parameters
 * of methods, so the doors have types of their own.
 */
export type VaultStub = DurableObjectStub & VaultDoors;

/**
 * Returns the object of a vault. Only this function constructs its name: another spelling would be
 * another, empty object.
 */
export function vaultStub(env: { readonly VAULT: DurableObjectNamespace }, id: VaultId): VaultStub {
  return env.VAULT.getByName(`vault:${id}`) as unknown as VaultStub;
}
