import type { KeyRefresh, Vault, VaultKey } from '#domain/vault.ts';
import type { UpdateVault } from '#objects/vault/commands/key.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { RefreshWork } from '#objects/vault/views.ts';
import { adoptionOf } from '#objects/vault/views.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/** The progress of a run of the job. */
export type RefreshReport =
  /** The next step is due at once. */
  | { readonly type: 'progress'; readonly refresh: KeyRefresh }
  /** The dealt shares are unusable. The next step follows at its usual time. */
  | { readonly type: 'set-aside'; readonly refresh: KeyRefresh }
  /** Every co-signer uses its new share. */
  | { readonly type: 'refreshed'; readonly epoch: number; readonly publicShares: VaultKey['publicShares'] };

/** The commands for the key refreshes of a vault, one key after the other. */
export class KeyRefreshCommands {
  readonly #host: VaultContext;
  readonly #updateVault: UpdateVault;

  constructor(host: VaultContext, updateVault: UpdateVault) {
    this.#host = host;
    this.#updateVault = updateVault;
  }

  /**
   * Requests a refresh of a key. A repetition during the refresh changes nothing. Returns false
   * when the vault has no such key.
   */
  async request(keyId: string): Promise<boolean> {
    const { storage, commits } = this.#host;
    const vault = this.#host.vault();
    const key = vault?.keys.find((one) => one.keyId === keyId);
    if (vault === null || key === undefined) return false;
    if (storage.keyRefreshes().some((refresh) => refresh.keyId === key.keyId)) return true;
    const { keyId: id, scheme } = key;
    await commits.run(() => {
      storage.putKeyRefresh({ keyId: id, scheme, begun: null, provenBy: [] });
      writeVaultChange(storage, vault, { action: 'key-refresh', detail: id, actor: null });
      enqueueNextStep(storage);
    });
    return true;
  }

  /** Returns the next key refresh with its progress, for the consumers; null without one. */
  work(): RefreshWork | null {
    const { storage } = this.#host;
    const vault = this.#host.vault();
    const all = vault === null ? [] : storage.keyRefreshes();
    const [refresh] = all;
    const key = vault?.keys.find(({ keyId }) => keyId === refresh?.keyId);
    if (vault === null || refresh === undefined || key === undefined) return null;
    const underWay = all.map(({ keyId }) => keyId);
    return { key, refresh, underWay, adoption: adoptionOf(vault) };
  }

  /**
   * Records the progress of a run of the job. A late report of a completed refresh changes nothing.
   */
  async report(keyId: string, report: RefreshReport): Promise<void> {
    const { storage, commits } = this.#host;
    const vault = this.#host.vault();
    const known = storage.keyRefreshes().find((refresh) => refresh.keyId === keyId);
    if (vault === null || known === undefined) return;
    if (report.type !== 'refreshed') {
      await commits.run(() => {
        storage.putKeyRefresh(merged(known, report.refresh));
        if (report.type === 'progress') enqueueNextStep(storage);
      });
      return;
    }
    const { epoch, publicShares } = report;
    await this.#updateVault(
      withShares(vault, keyId, publicShares),
      { action: 'key-refreshed', detail: `${keyId} ${epoch}` },
      () => {
        storage.dropKeyRefresh(keyId);
        if (storage.keyRefreshes().length === 0) storage.completeJob('', 'refresh-key');
        else enqueueNextStep(storage);
      },
    );
  }
}

/**
 * Merges two reports: two simultaneous runs begin the same refresh, and each proves a part of it.
 */
function merged(known: KeyRefresh, reported: KeyRefresh): KeyRefresh {
  const isFurther = (reported.begun?.epoch ?? 0) > (known.begun?.epoch ?? 0);
  return {
    ...known,
    begun: isFurther ? reported.begun : known.begun,
    provenBy: [...new Set([...known.provenBy, ...reported.provenBy])],
  };
}

function withShares(vault: Vault, keyId: string, publicShares: VaultKey['publicShares']): Vault {
  return { ...vault, keys: vault.keys.map((key) => (key.keyId === keyId ? { ...key, publicShares } : key)) };
}

function enqueueNextStep(storage: VaultStorage): void {
  storage.enqueueJob({ transactionId: '', job: 'refresh-key', version: 0, dueAtMs: Date.now(), tries: 0 });
}
