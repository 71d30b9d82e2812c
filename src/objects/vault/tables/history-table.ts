import { historyCodec } from '#objects/vault/documents/vault-documents.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/documents/history.ts';
import { readableOrNull } from '#store/document.ts';

/** A position in the history: after its entry of this number, which has this hash. */
export interface HistoryPosition {
  readonly seq: number;
  /** The hash, or its first characters. */
  readonly hash: string;
}

/** The position before the first entry. */
export const BEGINNING: HistoryPosition = { seq: 0, hash: NO_PREVIOUS_ENTRY };

export interface HistoryLine extends HistoryPosition {
  /** The entry as it is stored. */
  readonly document: string;
  /** Null for an unreadable one. */
  readonly entry: HistoryEntry | null;
}

/** The hash-chained history of one vault. */
export class HistoryTable {
  readonly #sql: SqlStorage;
  /** Cached, because every commit continues it; null when it must be read (again). */
  #last: HistoryPosition | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  append(line: Omit<HistoryEntry, 'seq' | 'previousHash'>): void {
    const last = this.#last ?? this.newest();
    const entry = { ...line, seq: last.seq + 1, previousHash: last.hash };
    const hash = historyHash(entry);
    const insert = 'INSERT INTO history (seq, document, hash) VALUES (?, ?, ?)';
    this.#sql.exec(insert, entry.seq, historyCodec.encode(entry), hash);
    this.#last = { seq: entry.seq, hash };
  }

  /** Returns the position after the newest entry. */
  newest(): HistoryPosition {
    const newest = 'SELECT seq, hash FROM history ORDER BY seq DESC LIMIT 1';
    const [last] = this.#sql.exec<{ seq: number; hash: string }>(newest).toArray();
    return last ?? BEGINNING;
  }

  /** Returns the number of the newest entry; 0 before the first. */
  length(): number {
    return this.#sql.exec<{ seq: number | null }>('SELECT max(seq) AS seq FROM history').one().seq ?? 0;
  }

  /** Reports whether this history has a position. */
  has({ seq, hash }: HistoryPosition): boolean {
    if (seq === BEGINNING.seq) return BEGINNING.hash.startsWith(hash);
    const [line] = this.#sql.exec<{ hash: string }>('SELECT hash FROM history WHERE seq = ?', seq).toArray();
    return line?.hash.startsWith(hash) === true;
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
      return { seq, document, entry: readableOrNull(() => historyCodec.decode(document), { seq }), hash };
    });
  }

  /** Clears the cached entry after a commit that was rolled back. */
  forget(): void {
    this.#last = null;
  }
}
