import { DAY_MS } from '#domain/policy/rules.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isPrunable } from '#domain/transaction/transaction.ts';

/**
 * Exceptions from "a record stays". `kept`: a signer approved it once, whatever counts now.
 * `pruned`: the record is deleted, and the history has its lines.
 */
export const RETENTION_TABLE = `
  CREATE TABLE retention (tx_id TEXT PRIMARY KEY, rule TEXT NOT NULL CHECK (rule IN ('kept', 'pruned'))) WITHOUT ROWID;
`;

/** A cancelled draft is deleted this long after its end. */
export const PRUNE_AFTER_MS = 30 * DAY_MS;

/**
 * Release 0.2.0 kept every record. A record of version 2 was created and cancelled, and nothing
 * else happened to it.
 */
export const UNPRUNED_DRAFTS = `
  INSERT OR REPLACE INTO outbox (tx_id, job, version, due_at_ms, tries)
    SELECT id, 'prune', version, unixepoch() * 1000 + ${PRUNE_AFTER_MS}, 0 FROM tx
    WHERE pending = 0 AND version = 2 AND json_extract(document, '$.state') = 'CANCELLED';
`;

/**
 * Which records are deleted. Every write happens inside the object's `transactionSync`.
 *
 * A member who creates and cancels without end would fill the storage of the vault and the database
 * of all vaults otherwise.
 */
export class RetentionTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Keeps a record, because a signer approved it once. Idempotent. */
  keep({ id }: Transaction): void {
    this.#sql.exec("INSERT OR IGNORE INTO retention (tx_id, rule) VALUES (?, 'kept')", id);
  }

  /** Reports whether a record is a cancelled draft that no signer ever approved. */
  mayPrune(transaction: Transaction): boolean {
    return isPrunable(transaction) && this.#rule(transaction.id) === null;
  }

  /** Deletes a record and the name that it has with the client. */
  prune({ id, externalId }: Transaction): void {
    this.#sql.exec('DELETE FROM tx WHERE id = ?', id);
    // A later record may have the name meanwhile.
    if (externalId !== null) {
      this.#sql.exec('DELETE FROM external WHERE external_id = ? AND tx_id = ?', externalId, id);
    }
    this.#sql.exec("INSERT INTO retention (tx_id, rule) VALUES (?, 'pruned')", id);
  }

  isPruned(id: string): boolean {
    return this.#rule(id) === 'pruned';
  }

  #rule(id: string): string | null {
    const read = 'SELECT rule FROM retention WHERE tx_id = ?';
    return this.#sql.exec<{ rule: string }>(read, id).toArray()[0]?.rule ?? null;
  }
}
