import type { ShareExport } from '#domain/policy/export-list.ts';

/** Rows are never deleted: they are what an auditor holds against the history of the vault. */
const SCHEMA =
  'CREATE TABLE IF NOT EXISTS export (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, epoch INTEGER NOT NULL, recovery_key TEXT NOT NULL)';

/** One after each change of a key and some that fail; more is a coordinator that copies shares. */
const MAX_EXPORTS_PER_DAY = 10;
const DAY_MS = 24 * 60 * 60 * 1000;
/** An answer stays far below what a coordinator reads; the number of the last one says how many there were. */
const MAX_LISTED = 1000;

interface ExportRow {
  readonly [column: string]: SqlStorageValue;
  readonly seq: number;
  readonly at_ms: number;
  readonly epoch: number;
  readonly recovery_key: string;
}

/** The recovery packages that a co-signer gave out of one key: a row is written before the package leaves. */
export class ExportLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Records an export and returns true, or returns false where there were too many within a day. */
  record({ atMs, epoch, recoveryKey }: Omit<ShareExport, 'seq'>): boolean {
    this.#sql.exec(SCHEMA);
    const recent = this.#sql.exec<{ n: number }>('SELECT count(*) AS n FROM export WHERE at_ms > ?', atMs - DAY_MS);
    if (recent.one().n >= MAX_EXPORTS_PER_DAY) return false;
    this.#sql.exec('INSERT INTO export (at_ms, epoch, recovery_key) VALUES (?, ?, ?)', atMs, epoch, recoveryKey);
    return true;
  }

  /** Returns the newest exports, oldest first. Asking a key that was never exported leaves nothing behind. */
  list(): readonly ShareExport[] {
    const table = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'export'").toArray();
    if (table.length === 0) return [];
    const newest = 'SELECT seq, at_ms, epoch, recovery_key FROM export ORDER BY seq DESC LIMIT ?';
    const rows = this.#sql.exec<ExportRow>(newest, MAX_LISTED).toArray();
    return rows
      .toReversed()
      .map(({ seq, at_ms: atMs, epoch, recovery_key: recoveryKey }) => ({ seq, atMs, epoch, recoveryKey }));
  }
}
