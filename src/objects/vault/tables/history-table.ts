import { historyCodec } from '#objects/vault/documents/vault-documents.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/documents/history.ts';
import { readableOrNull } from '#store/document.ts';

export interface HistoryLine {
  readonly seq: number;
  /** Null for an unreadable one. */
  readonly entry: HistoryEntry | null;
  readonly hash: string;
}

/** The hash-chained history of one vault. */
export class HistoryTable {
  readonly #sql: SqlStorage;
  /** Cached, because every commit continues it; null when it must be read (again). */
  #last: Pick<HistoryLine, 'seq' | 'hash'> | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  append(line: Omit<HistoryEntry, 'seq' | 'previousHash'>): void {
    const last = this.#last ?? this.#readLast();
    const entry = { ...line, seq: last.seq + 1, previousHash: last.hash };
    const hash = historyHash(entry);
    const insert = 'INSERT INTO history (seq, document, hash) VALUES (?, ?, ?)';
    this.#sql.exec(insert, entry.seq, historyCodec.encode(entry), hash);
    this.#last = { seq: entry.seq, hash };
  }

  #readLast(): Pick<HistoryLine, 'seq' | 'hash'> {
    const newest = 'SELECT seq, hash FROM history ORDER BY seq DESC LIMIT 1';
    const [last] = this.#sql.exec<{ seq: number; hash: string }>(newest).toArray();
    return last ?? { seq: 0, hash: NO_PREVIOUS_ENTRY };
  }

  /** Returns the number of the newest entry; 0 before the first. */
  length(): number {
    return this.#sql.exec<{ seq: number | null }>('SELECT max(seq) AS seq FROM history').one().seq ?? 0;
  }

  /** Returns the number and the hash of the newest entry. */
  newest(): Pick<HistoryLine, 'seq' | 'hash'> {
    return this.#readLast();
  }

  /** Returns the hash of an entry, or null without such an entry. */
  hashAt(seq: number): string | null {
    if (seq === 0) return NO_PREVIOUS_ENTRY;
    const rows = this.#sql.exec<{ hash: string }>('SELECT hash FROM history WHERE seq = ?', seq).toArray();
    return rows[0]?.hash ?? null;
  }

  /** Returns the readable ones of the next entries, the oldest first. */
  after(seq: number, limit: number): readonly HistoryEntry[] {
    return this.lines(seq, limit).flatMap(({ entry }) => entry ?? []);
  }

  /** Returns the next entries, the oldest first. */
  lines(after: number, limit: number): readonly HistoryLine[] {
    const rows = this.#sql.exec<{ seq: number; document: string; hash: string }>(
      'SELECT seq, document, hash FROM history WHERE seq > ? ORDER BY seq LIMIT ?',
      after,
      limit,
    );
    return [...rows].map(({ seq, document, hash }) => {
      return { seq, entry: readableOrNull(() => historyCodec.decode(document), { seq }), hash };
    });
  }

  /** Clears the cached entry after a commit that was rolled back. */
  forget(): void {
    this.#last = null;
  }
}
