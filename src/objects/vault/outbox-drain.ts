import type { Vault } from '#domain/vault/vault.ts';
import type { CoordinatorConfig, JobMessage } from '#objects/configuration.ts';
import { historyCodec } from '#objects/vault/documents/vault-documents.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { isLogged, logLine } from '#store/operations/log-line.ts';
import type { JobQueue, OutboxRow } from '#objects/outbox.ts';
import { isQueuedJob, JOBS, resendDelayMs } from '#objects/outbox.ts';
import { projectedRecord } from '#objects/vault/projection.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { readableOrNull } from '#store/document.ts';
import { project } from '#store/transactions.ts';
import { storeKey } from '#store/operations/key-exports.ts';
import { replaceMembers, upsertVault, upsertWallets } from '#store/vaults.ts';

/** A D1 batch of this many records is well within its limits. */
const RECORDS_PER_BATCH = 50;
const AUDIT_PER_BATCH = 200;
const JOBS_PER_ALARM = 100;
/** In one run: an invocation may make a thousand calls. The rest stays due for the next alarm. */
const MAX_BATCHES = 300;

export interface DueWork {
  readonly storage: VaultStorage;
  readonly env: CoordinatorConfig;
  readonly vaultId: number;
  readonly nowMs: number;
}

/**
 * Sends a message for every due job of a queue, and postpones the row until an effect is expected.
 * Only the recorded effect removes the row. Therefore a lost message is sent again, and a repeated
 * one finds nothing to do. Reports whether anything was due. Throws when the queue is unreachable.
 */
export async function drainDue({ storage, env, vaultId, nowMs }: DueWork, queue: JobQueue): Promise<boolean> {
  const rows = storage.due(nowMs, JOBS_PER_ALARM).filter(({ job }) => JOBS[job].queue === queue);
  for (const row of rows) storage.postpone(row, nowMs + resendDelayMs(row));
  const messages = rows.flatMap((row) => messagesOf(row, vaultId));
  if (messages.length > 0) await env[queue].sendBatch(messages.map((body) => ({ body })));
  return messages.length > 0;
}

/**
 * Updates the read model. Upserts are guarded by the record's version, so running it twice, or
 * late, is harmless. A row is removed only after D1 has answered, and only if it was not renewed
 * meanwhile. It projects at most fifteen thousand records at once.
 */
export async function drainProjection(
  storage: VaultStorage,
  env: Pick<CoordinatorConfig, 'DB' | 'LOG_SHARE'>,
  vaultNow: () => Vault | null,
): Promise<void> {
  const db = env.DB;
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const rows = storage.unprojected(RECORDS_PER_BATCH);
    const history = storage.unprojectedHistory(AUDIT_PER_BATCH);
    const vault = vaultNow();
    if (vault === null || (rows.length === 0 && history.lines.length === 0)) return;
    const ids = rows.flatMap(({ transactionId }) => (transactionId === '' ? [] : [transactionId]));
    const found = ids.map((id) => ({
      id,
      record: readableOrNull(() => projectedRecord(storage, id), { vaultId: vault.id, id }),
    }));
    const records = found.flatMap(({ record }) => record ?? []);
    const deleted = found.flatMap(({ id, record }) => (record === null && storage.retention.isPruned(id) ? [id] : []));
    const lines = history.lines.flatMap(({ entry, hash }) =>
      entry === null ? [] : [projectedLine(vault.id, entry, hash)],
    );
    if (rows.some((row) => row.transactionId === '')) await enter(db, vault, storage);
    await project(db, { records, lines, deleted });
    storage.recordProjected(history, rows);
    for (const { entry } of history.lines) if (entry !== null) logChange(env, vault.id, entry);
    // If this run stops here, the alarm continues with the rest.
    if (history.lines.length === AUDIT_PER_BATCH) storage.enqueueHistory(Date.now());
  }
}

/** Logs a change of the state of a record, once D1 has its line. */
function logChange(env: Pick<CoordinatorConfig, 'LOG_SHARE'>, vaultId: number, entry: HistoryEntry): void {
  const { seq, transactionId, action, from, to, reason } = entry;
  if (transactionId === null || from === to || !isLogged(env)) return;
  logLine({ event: 'state', vaultId, transactionId, seq, action, from, to, reason });
}

/** Writes a vault's entry in the directory. */
async function enter(db: D1Database, vault: Vault, storage: VaultStorage): Promise<void> {
  const { id, reference, foundedAtMs, configuration, members, keys } = vault;
  // Read in one turn with the row of the entry: a later change enqueues another one.
  const pending = { pendingChanges: storage.pendingChangeCount(), seq: storage.history.length() };
  await upsertVault(db, { id, name: configuration.name, reference, createdAtMs: foundedAtMs, ...pending });
  await replaceMembers(
    db,
    id,
    members.map(({ userId }) => userId),
  );
  for (const { keyId, addresses } of keys) {
    await upsertWallets(db, { vaultId: id, keyId, addresses });
    await storeKey(db, { vaultId: id, keyId, nowMs: Date.now() });
  }
}

function projectedLine(vaultId: number, entry: HistoryEntry, hash: string) {
  const { seq, transactionId, atMs } = entry;
  return { vaultId, seq, transactionId, atMs, entry: historyCodec.encode(entry), hash };
}

/** Returns no message for a job that the vault does itself. */
function messagesOf({ job, transactionId }: OutboxRow, vaultId: number): readonly JobMessage[] {
  return isQueuedJob(job) ? [{ vaultId, transactionId: transactionId === '' ? null : transactionId, job }] : [];
}
