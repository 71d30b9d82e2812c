import type { UserId } from '#domain/id.ts';

/** The id of the person who created a transaction, in its document. */
const CREATOR = "json_extract(document, '$.createdBy.userId')";

/** Finds the pending transactions of a vault, and those of one person, without reading the rest. */
export const PENDING_INDEX = `CREATE INDEX tx_pending ON tx (${CREATOR}) WHERE pending = 1;`;

/** Counts the pending transactions of one vault. */
export class PendingCount {
  readonly #sql: SqlStorage;
  /** Cached, because every creation reads them; null or absent when they must be counted. */
  #all: number | null = null;
  readonly #byCreator = new Map<UserId, number>();

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
    const known = this.#byCreator.get(userId) ?? this.#sql.exec<{ n: number }>(count, userId).one().n;
    this.#byCreator.set(userId, known);
    return known;
  }

  /** Updates the cached counts after a write of a transaction of this person. */
  add(difference: 1 | -1, creator: UserId): void {
    if (this.#all !== null) this.#all += difference;
    const known = this.#byCreator.get(creator);
    if (known !== undefined) this.#byCreator.set(creator, known + difference);
  }

  /** Clears the cached counts after a commit that was rolled back. */
  forget(): void {
    this.#all = null;
    this.#byCreator.clear();
  }
}
