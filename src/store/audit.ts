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

/** Returns entries of a vault's history, oldest first, each as JSON with its hash. */
export async function historyLines(
  db: D1Database,
  { vaultId, transactionId, after, limit }: HistoryQuery,
): Promise<readonly { readonly entry: string; readonly hash: string }[]> {
  const which = transactionId === null ? eq(audit.vaultId, vaultId) : eq(audit.transactionId, transactionId);
  return drizzle(db)
    .select({ entry: audit.entry, hash: audit.hash })
    .from(audit)
    .where(and(which, gt(audit.seq, after)))
    .orderBy(asc(audit.seq))
    .limit(limit);
}
