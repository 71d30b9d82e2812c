import type { Transaction } from '#domain/transaction/transaction.ts';
import { PROJECTION_DELAY_MS } from '#objects/outbox.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { PRUNE_AFTER_MS } from '#objects/vault/tables/retention-table.ts';

/** Enqueues the deletion of a record that has just ended, if no signer ever approved it. */
export function schedulePruning(storage: VaultStorage, ended: Transaction): void {
  if (!storage.retention.mayPrune(ended)) return;
  const { id: transactionId, version, updatedAtMs } = ended;
  storage.enqueueJob({ transactionId, job: 'prune', version, dueAtMs: updatedAtMs + PRUNE_AFTER_MS, tries: 0 });
}

/** Deletes a record here and in the read model. The history says so, and its lines stay. */
export function pruneRecord(storage: VaultStorage, transaction: Transaction, nowMs: number): void {
  const { id: transactionId, state, digest } = transaction;
  const version = transaction.version + 1;
  storage.retention.prune(transaction);
  storage.completeJob(transactionId, 'prune');
  const line = { action: 'prune', actor: null, from: state, to: null, reason: null, digest, detail: null };
  storage.history.append({ transactionId, version, ...line, atMs: nowMs });
  storage.enqueueJob({ transactionId, job: 'project', version, dueAtMs: nowMs + PROJECTION_DELAY_MS, tries: 0 });
}
