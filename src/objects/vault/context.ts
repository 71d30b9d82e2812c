import type { Chain } from '#domain/asset/chain.ts';
import type { Member, Permission } from '#domain/access/member.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import type { Vault } from '#domain/vault.ts';
import type { ChangeSignal } from '#objects/vault/change-signal.ts';
import type { VaultCommit } from '#objects/vault/commit.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';

/** A vault and the member who accesses it. */
interface Authorized {
  readonly vault: Vault;
  readonly viewer: Member;
}

/**
 * The shared context of a vault's commands. The object itself keeps the vault and authorizes
 * callers.
 */
export interface VaultContext {
  readonly storage: VaultStorage;
  readonly commits: VaultCommit;
  readonly chains: readonly Chain[];
  readonly changes: ChangeSignal;
  readonly vault: () => Vault | null;
  /** Returns the vault and the member. Refuses `forbidden`. */
  readonly authorize: (actor: Actor, permission: Permission) => Result<Authorized, Refusal>;
}
