import type { Activity } from '#domain/activity.ts';

/** A hash is one record for good, however often somebody reports it. */
export const ACTIVITY_SCHEMA = `
  CREATE TABLE activity (id TEXT PRIMARY KEY, chain TEXT NOT NULL, hash TEXT NOT NULL, document TEXT NOT NULL, UNIQUE (chain, hash));
`;

/** What a vault's object keeps of what others did. Every write happens inside the object's `transactionSync`. */
export class ActivityStorage {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  read(id: string): Activity | null {
    return this.#one('SELECT document FROM activity WHERE id = ?', id);
  }

  ofHash(chain: string, hash: string): Activity | null {
    return this.#one('SELECT document FROM activity WHERE chain = ? AND hash = ?', chain, hash);
  }

  put(activity: Activity): void {
    this.#sql.exec(
      'INSERT INTO activity (id, chain, hash, document) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET document = excluded.document',
      activity.id,
      activity.chain,
      activity.hash,
      JSON.stringify(activity),
    );
  }

  /** Whether the vault itself has signed this: it has a record of it already. */
  isOwn(hash: string): boolean {
    return this.#sql.exec('SELECT 1 FROM signed WHERE hash = ?', hash).toArray().length > 0;
  }

  #one(query: string, ...bindings: string[]): Activity | null {
    const row = this.#sql.exec<{ document: string }>(query, ...bindings).toArray()[0];
    return row === undefined ? null : (JSON.parse(row.document) as Activity);
  }
}
