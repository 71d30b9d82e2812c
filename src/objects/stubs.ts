import type { UserId, VaultId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

/** The object of a vault. Its name is made here alone: spelled otherwise, it would be another object, and empty. */
export function vaultStub(env: CoordinatorEnv, id: VaultId) {
  return env.VAULT.getByName(`vault:${id}`);
}

/** The object of a person. Its name is made here alone. */
export function personStub(env: CoordinatorEnv, id: UserId) {
  return env.PERSON.getByName(`person:${id}`);
}
