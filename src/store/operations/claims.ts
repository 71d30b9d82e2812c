import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { claims } from '#store/operations/schema.ts';

type Claim = typeof claims.$inferSelect;

/** Stores what one RPC node alone states, or that it states it still. */
export async function storeClaim(
  db: D1Database,
  claim: Pick<Claim, 'chain' | 'hash' | 'host'>,
  nowMs: number,
): Promise<void> {
  await drizzle(db)
    .insert(claims)
    .values({ ...claim, firstAtMs: nowMs, lastAtMs: nowMs })
    .onConflictDoUpdate({ target: [claims.chain, claims.hash, claims.host], set: { lastAtMs: nowMs } });
}

/** Deletes claims that were last stated before a time. Returns their number. */
export async function pruneClaims(
  db: D1Database,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const old = sql`SELECT chain, hash, host FROM claims WHERE last_at_ms < ${beforeMs} LIMIT ${limit}`;
  const result = await drizzle(db).run(sql`DELETE FROM claims WHERE (chain, hash, host) IN (${old})`);
  return result.meta.changes;
}
