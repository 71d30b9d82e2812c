import { drizzle } from 'drizzle-orm/d1';
import { sweepRuns } from '#store/operations/schema.ts';

/** Records when a sweep ended, in the one row of the table. */
export async function storeSweepEnd(db: D1Database, endedAtMs: number): Promise<void> {
  await drizzle(db)
    .insert(sweepRuns)
    .values({ id: 1, endedAtMs })
    .onConflictDoUpdate({ target: sweepRuns.id, set: { endedAtMs } });
}

/** Returns when the last sweep ended; null before the first. */
export async function readSweepEnd(db: D1Database): Promise<number | null> {
  const [row] = await drizzle(db).select().from(sweepRuns);
  return row?.endedAtMs ?? null;
}
