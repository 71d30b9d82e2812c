import type { LimitedKind } from '#domain/activity/daily-limit.ts';
import { DAILY_LIMITS } from '#domain/activity/daily-limit.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { DAY_MS } from '#domain/policy/rules.ts';
import type { Vault } from '#domain/vault/vault.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/** What is counted against a daily limit: records of one kind, on one chain. */
interface Limited {
  readonly chain: Chain;
  readonly kind: LimitedKind;
  readonly nowMs: number;
}

/** Reports whether a further record of the day is above its limit. */
export function isLimitReached(storage: VaultStorage, limited: Limited): boolean {
  return countOf(storage, limited) >= DAILY_LIMITS[limited.kind];
}

/** Reports whether the history has the line that further records of the day are left out. */
export function isOmissionWritten(storage: VaultStorage, limited: Limited): boolean {
  return countOf(storage, limited) > DAILY_LIMITS[limited.kind];
}

/**
 * Counts a record, or the first one that is left out: the history then has a line, and the log.
 * Further ones are not counted: see `isOmissionWritten`.
 */
export function countRecord(storage: VaultStorage, vault: Vault, limited: Limited): void {
  const isFirstAbove = isLimitReached(storage, limited);
  const { chain, kind, nowMs } = limited;
  storage.activities.countRecord(chain.name, kind, dayOf(nowMs));
  if (!isFirstAbove) return;
  const omission = { chain: chain.name, date: new Date(nowMs).toISOString().slice(0, 10), kind };
  const detail = JSON.stringify({ ...omission, recorded: DAILY_LIMITS[kind] });
  writeVaultChange(storage, vault, { action: 'omit-spam', detail, actor: null });
  console.error(JSON.stringify({ event: 'spam-omitted', vaultId: vault.id, ...omission }));
}

function countOf(storage: VaultStorage, { chain, kind, nowMs }: Limited): number {
  return storage.activities.recordedOn(chain.name, kind, dayOf(nowMs));
}

function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}
