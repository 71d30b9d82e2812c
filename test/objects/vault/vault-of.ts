import { parseVaultId } from '#domain/id.ts';
import type { VaultStub } from '#objects/vault/doors/stub.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/** Returns the object of the vault with this number. */
export function vaultOf(env: { readonly VAULT: DurableObjectNamespace }, number: number): VaultStub {
  const id = parseVaultId(number);
  if (id === null) throw new Error(`${number} is no vault`);
  return vaultStub(env, id);
}
