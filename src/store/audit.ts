import { and, asc, eq, gt } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { audit } from '#store/schema.ts';

export interface HistoryQuery {
  readonly vaultId: number;
  /** Null for all entries of the vault. */
  readonly transactionId: string | null;
  /** Number of the last entry of the previous page; 0 for the first page. */
  readonly after: number;
  readonly limit: number;
}

/** An entry of the read model, as a document. */
export interface HistoryLine {
  readonly vaultId: number;
  readonly seq: number;
  readonly entry: string;
  readonly hash: string;
}

/** Returns entries of a vault's history, oldest first. */
export async function historyLines(
  db: D1Database,
  { vaultId, transactionId, after, limit }: HistoryQuery,
): Promise<readonly HistoryLine[]> {
  const which = transactionId === null ? eq(audit.vaultId, vaultId) : eq(audit.transactionId, transactionId);
  return drizzle(db)
    .select({ vaultId: audit.vaultId, seq: audit.seq, entry: audit.entry, hash: audit.hash })
    .from(audit)
    .where(and(which, gt(audit.seq, after)))
    .orderBy(asc(audit.seq))
    .limit(limit);
}

/** A position in the history of a vault that the directory lists. */
interface ListedPosition {
  readonly vaultId: number;
  readonly seq: number;
  readonly hash: string;
}

/** The histories of the vaults of a person. */
interface ListedHistories {
  /** Changes with every entry that the read model receives, of any vault. */
  readonly writes: number;
  /** The newest entry of each vault, by vault. A vault without entries is not there. */
  readonly newest: readonly ListedPosition[];
}

const WRITES = 'SELECT coalesce(max(rowid), 0) AS writes FROM audit';

/** Returns a number that changes with every entry that the read model receives. */
export async function historyWrites(db: D1Database): Promise<number> {
  return (await db.prepare(WRITES).first<{ writes: number }>())?.writes ?? 0;
}

/**
 * Returns the newest entry of each vault that the directory lists for a person.
 *
 * @param vaultIds leaves out other vaults; null for none
 */
export async function listedHistories(
  db: D1Database,
  { userId, vaultIds, limit }: { userId: string; vaultIds: readonly number[] | null; limit: number },
): Promise<ListedHistories> {
  const newest = `SELECT a.vault_id AS vaultId, a.seq, a.hash FROM members AS m
    JOIN audit AS a ON a.vault_id = m.vault_id AND a.seq = (SELECT max(seq) FROM audit WHERE vault_id = m.vault_id)
    WHERE m.user_id = ?1 AND (?2 IS NULL OR m.vault_id IN (SELECT value FROM json_each(?2)))
    ORDER BY m.vault_id LIMIT ?3`;
  // The number is read first: an entry in between is read now, and read for again.
  const [counted, listed] = await db.batch([
    db.prepare(WRITES),
    db.prepare(newest).bind(userId, vaultIds === null ? null : JSON.stringify(vaultIds), limit),
  ]);
  const [{ writes } = { writes: 0 }] = (counted?.results ?? []) as { writes: number }[];
  return { writes, newest: (listed?.results ?? []) as ListedPosition[] };
}

/** The number and the time of an entry. */
interface EntryTime {
  readonly vaultId: number;
  readonly seq: number;
  readonly atMs: number;
}

/**
 * Returns the next entries after some positions, of each vault in its order: of the vaults whose
 * next entry is the oldest.
 */
export async function entriesAfter(
  db: D1Database,
  positions: readonly { readonly vaultId: number; readonly seq: number }[],
  { vaults, perVault }: { readonly vaults: number; readonly perVault: number },
): Promise<readonly EntryTime[]> {
  // Numbers can be missing: an unreadable entry is not in the read model.
  const query = `WITH behind AS (SELECT value ->> 0 AS vault_id,
      (SELECT min(seq) FROM audit WHERE vault_id = value ->> 0 AND seq > value ->> 1) AS next FROM json_each(?1)),
    oldest AS MATERIALIZED (SELECT b.vault_id, b.next FROM behind AS b
      CROSS JOIN audit AS a ON a.vault_id = b.vault_id AND a.seq = b.next ORDER BY a.at_ms, a.vault_id LIMIT ?2)
    SELECT a.vault_id AS vaultId, a.seq, a.at_ms AS atMs FROM oldest AS o
      CROSS JOIN audit AS a ON a.vault_id = o.vault_id AND a.seq >= o.next AND a.seq < o.next + ?3
      ORDER BY a.vault_id, a.seq`;
  const pairs = JSON.stringify(positions.map(({ vaultId, seq }) => [vaultId, seq]));
  return (await db.prepare(query).bind(pairs, vaults, perVault).all<EntryTime>()).results;
}
