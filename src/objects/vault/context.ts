import type { Chain } from '#domain/asset/chain.ts';
import type { Vault } from '#domain/vault/vault.ts';
import type { ChangeSignal } from '#objects/vault/change-signal.ts';
import type { FeedCache } from '#objects/vault/feed-cache.ts';
import type { VaultCommit } from '#objects/vault/commit.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';

/** What the functions behind the doors of a vault share. */
export interface VaultContext {
  readonly storage: VaultStorage;
  readonly commits: VaultCommit;
  readonly chains: readonly Chain[];
  readonly changes: ChangeSignal;
  readonly feed: FeedCache;
  /** Null before the vault is created. */
  readonly vault: () => Vault | null;
  /** Replaces the vault in memory, after the commit that wrote it. */
  readonly replaceVault: (vault: Vault) => void;
  /** Brings the read model up to date. */
  readonly flush: () => Promise<void>;
}
