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
