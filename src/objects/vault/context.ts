import type { Chain } from '#domain/asset/chain.ts';
import type { Member, Permission } from '#domain/access/member.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import type { Vault } from '#domain/vault.ts';
import type { ChangeSignal } from '#objects/vault/change-signal.ts';
import type { VaultCommit } from '#objects/vault/commit.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';

/** A member at the door of a vault. */
interface Authorized {
  readonly vault: Vault;
  readonly viewer: Member;
}

/** What the desks of a vault share: its object keeps the vault itself and says who enters. */
export interface VaultContext {
  readonly storage: VaultStorage;
  readonly commits: VaultCommit;
  readonly chains: readonly Chain[];
  readonly changes: ChangeSignal;
  readonly vault: () => Vault | null;
  /** Refuses `forbidden`. */
  readonly authorize: (actor: Actor, permission: Permission) => Result<Authorized, Refusal>;
}
