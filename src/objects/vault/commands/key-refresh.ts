import type { Operator } from '#domain/access/approval.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { KeyRefresh, Vault, VaultKey } from '#domain/vault/vault.ts';
import { epochReached } from '#domain/vault/vault.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { RefreshWork } from '#objects/vault/views.ts';
import { adoptionOf } from '#objects/vault/views.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { updateVault } from '#objects/vault/writes/update-vault.ts';
import { enqueueNextStep } from '#objects/vault/writes/key-jobs.ts';
import { writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/** The progress of a run of the job. */
export type RefreshReport =
  /** The next step follows (`enqueueNextStep`). */
  | { readonly type: 'progress'; readonly refresh: KeyRefresh }
  /** The dealt shares are unusable. The next step follows at its usual time. */
  | { readonly type: 'set-aside'; readonly refresh: KeyRefresh }
  /** Every co-signer uses its new share. */
  | { readonly type: 'refreshed'; readonly epoch: number; readonly publicShares: VaultKey['publicShares'] };

/** The refresh that a run of the job has worked on. */
export type RefreshName = Pick<KeyRefresh, 'keyId' | 'requestId'>;

/** The commands for the key refreshes of a vault, one key after the other. */

/**
 * Requests a refresh of a key. A repetition during the refresh changes nothing. Returns false
 * when the vault has no such key.
 */
export async function requestRefresh(
  context: VaultContext,
  operator: Operator,
  { keyId }: { readonly keyId: string },
): Promise<boolean> {
  const { storage, commits } = context;
  const vault = context.vault();
  const key = vault?.keys.find((one) => one.keyId === keyId);
  if (vault === null || key === undefined) return false;
  if (storage.keyRefreshes().some((refresh) => refresh.keyId === key.keyId)) return true;
  const { keyId: id, scheme } = key;
  await commits.run(() => {
    storage.putKeyRefresh({ keyId: id, scheme, requestId: crypto.randomUUID(), begun: null, provenBy: [] });
    writeVaultChange(storage, vault, { action: 'key-refresh', detail: id, actor: operator });
    enqueueNextStep(storage, 'refresh-key', { hasResult: true });
  });
  return true;
}

/**
 * Gives up the refresh of a key. Without one it changes nothing. Refuses `key-refresh-activating`
 * once co-signers may have been instructed to use the new shares: one that uses them has deleted
 * its old share, so the others must follow, and only the refresh instructs them. The record says
 * so before the first instruction, and a run that recorded nothing instructs no co-signer.
 *
 * Waiting shares stay with the co-signers and do no harm: no co-signer uses them without the
 * receipts of all, and the next refresh deals shares of a newer epoch.
 */
export async function giveUpRefresh(
  context: VaultContext,
  operator: Operator,
  { keyId }: { readonly keyId: string },
): Promise<Result<null, 'key-refresh-activating'>> {
  const { storage, commits } = context;
  const vault = context.vault();
  const known = storage.keyRefreshes().find((refresh) => refresh.keyId === keyId);
  if (vault === null || known === undefined) return accepted(null);
  if (known.activating !== undefined) return refused('key-refresh-activating');
  const epoch = epochReached(known);
  const detail = epoch === null ? keyId : `${keyId} ${epoch}`;
  await commits.run(() => {
    endRefresh(storage, keyId);
    writeVaultChange(storage, vault, { action: 'key-refresh-given-up', detail, actor: operator });
  });
  return accepted(null);
}

/** Returns the next key refresh with its progress, for the consumers; null without one. */
export function refreshWork(context: VaultContext): RefreshWork | null {
  const { storage } = context;
  const vault = context.vault();
  const all = vault === null ? [] : storage.keyRefreshes();
  const [refresh] = all;
  const key = vault?.keys.find(({ keyId }) => keyId === refresh?.keyId);
  if (vault === null || refresh === undefined || key === undefined) return null;
  const underWay = all.map(({ keyId }) => keyId);
  return { key, refresh, underWay, adoption: adoptionOf(vault) };
}

/**
 * Records the progress of a run of the job on a refresh. A late report of a refresh that was
 * completed or given up changes nothing, not even when the same key is refreshed again.
 */
export async function reportRefresh(
  context: VaultContext,
  { refresh: { keyId, requestId }, report }: { readonly refresh: RefreshName; readonly report: RefreshReport },
): Promise<void> {
  const { storage, commits } = context;
  const vault = context.vault();
  const known = storage.keyRefreshes().find((refresh) => refresh.keyId === keyId);
  if (vault === null || known === undefined || known.requestId !== requestId) return;
  if (report.type !== 'refreshed') {
    await commits.run(() => {
      const after = merged(known, report.refresh);
      storage.putKeyRefresh(after);
      const hasResult = JSON.stringify(after) !== JSON.stringify(known);
      if (report.type === 'progress') enqueueNextStep(storage, 'refresh-key', { hasResult });
    });
    return;
  }
  const { epoch, publicShares } = report;
  const also = () => endRefresh(storage, keyId);
  const after = withShares(vault, keyId, publicShares);
  await updateVault(context, after, { action: 'key-refreshed', detail: `${keyId} ${epoch}`, also });
}

/**
 * Merges two reports: two simultaneous runs begin the same refresh, and each proves a part of it.
 */
function merged(known: KeyRefresh, reported: KeyRefresh): KeyRefresh {
  const isFurther = (reported.begun?.epoch ?? 0) > (known.begun?.epoch ?? 0);
  const activating = Math.max(known.activating ?? 0, reported.activating ?? 0);
  return {
    ...known,
    ...(activating === 0 ? {} : { activating }),
    ...broughtIn(known, reported),
    begun: isFurther ? reported.begun : known.begun,
    provenBy: [...new Set([...known.provenBy, ...reported.provenBy])],
  };
}

/** Returns the newest epoch of each co-signer in two reports. */
function broughtIn(...reports: readonly KeyRefresh[]): Pick<KeyRefresh, 'brought'> {
  const brought: Record<string, number> = {};
  for (const [node, epoch] of reports.flatMap((report) => Object.entries(report.brought ?? {}))) {
    brought[node] = Math.max(brought[node] ?? 0, epoch);
  }
  return Object.keys(brought).length === 0 ? {} : { brought };
}

function withShares(vault: Vault, keyId: string, publicShares: VaultKey['publicShares']): Vault {
  return { ...vault, keys: vault.keys.map((key) => (key.keyId === keyId ? { ...key, publicShares } : key)) };
}

/** Ends a refresh, and its job when no other refresh waits. Runs inside a commit. */
function endRefresh(storage: VaultStorage, keyId: string): void {
  storage.dropKeyRefresh(keyId);
  if (storage.keyRefreshes().length === 0) storage.completeJob('', 'refresh-key');
  else enqueueNextStep(storage, 'refresh-key', { hasResult: true });
}
