import { COSIGNER_SCHEMA } from '#cosigner/schema.ts';
import type { ShareExport } from '#domain/policy/export-list.ts';
import { createState, stateVersion } from '#store/object-schema.ts';

/**
 * One export follows each change of a key, and some fail. A coordinator that needs more copies
 * shares.
 */
const MAX_EXPORTS_PER_DAY = 10;
const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * Keeps a response far below the size limit of the coordinator. The `seq` of the last entry is the
 * number of all exports.
 */
const MAX_LISTED = 1000;

interface ExportRow {
  readonly [column: string]: SqlStorageValue;
  readonly seq: number;
  readonly at_ms: number;
  readonly epoch: number;
  readonly recovery_key: string;
}

/**
 * The recovery packages that a co-signer exported for one key. A row is written before its package
 * leaves the co-signer.
 */
export class ExportLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Records an export and returns true, or returns false when the limit of a day is reached. */
  record({ atMs, epoch, recoveryKey }: Omit<ShareExport, 'seq'>): boolean {
    createState(this.#sql, COSIGNER_SCHEMA);
    const recent = this.#sql.exec<{ n: number }>('SELECT count(*) AS n FROM export WHERE at_ms > ?', atMs - DAY_MS);
    if (recent.one().n >= MAX_EXPORTS_PER_DAY) return false;
    this.#sql.exec('INSERT INTO export (at_ms, epoch, recovery_key) VALUES (?, ?, ?)', atMs, epoch, recoveryKey);
    return true;
  }

  /** Returns the newest exports, oldest first. Reading a key without exports writes nothing. */
  list(): readonly ShareExport[] {
    if (stateVersion(this.#sql) === 0) return [];
    const newest = 'SELECT seq, at_ms, epoch, recovery_key FROM export ORDER BY seq DESC LIMIT ?';
    const rows = this.#sql.exec<ExportRow>(newest, MAX_LISTED).toArray();
    return rows
      .toReversed()
      .map(({ seq, at_ms: atMs, epoch, recovery_key: recoveryKey }) => ({ seq, atMs, epoch, recoveryKey }));
  }
}
