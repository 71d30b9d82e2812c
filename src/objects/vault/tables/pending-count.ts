import type { UserId } from '#domain/id.ts';

/** The id of the person who created a transaction, in its document. */
const CREATOR = "json_extract(document, '$.createdBy.userId')";

/** Finds the pending transactions of a vault, and those of one person, without reading the rest. */
export const PENDING_INDEX = `CREATE INDEX tx_pending ON tx (${CREATOR}) WHERE pending = 1;`;

/** Counts the pending transactions of one vault. */
export class PendingCount {
  readonly #sql: SqlStorage;
  /** Cached, because every creation reads it; null when it must be counted (again). */
  #all: number | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  all(): number {
    this.#all ??= this.#sql.exec<{ n: number }>('SELECT count(*) AS n FROM tx WHERE pending = 1').one().n;
    return this.#all;
  }

  /** Returns how many of them a person has created. */
  createdBy(userId: UserId): number {
    const count = `SELECT count(*) AS n FROM tx WHERE pending = 1 AND ${CREATOR} = ?`;
    return this.#sql.exec<{ n: number }>(count, userId).one().n;
  }

  /** Updates the cached count after a write. */
  add(difference: 1 | -1): void {
    if (this.#all !== null) this.#all += difference;
  }

  /** Clears the cached count after a commit that was rolled back. */
  forget(): void {
    this.#all = null;
  }
}
