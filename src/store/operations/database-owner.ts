import { drizzle } from 'drizzle-orm/d1';
import { databaseOwner } from '#store/operations/schema.ts';

/** Returns the fingerprints of the deployment that writes the database; null before the first. */
export async function readDatabaseOwner(db: D1Database): Promise<readonly string[] | null> {
  const [row] = await drizzle(db).select().from(databaseOwner);
  return row?.fingerprints.split(' ') ?? null;
}

/** Stores the fingerprints, in the one row of the table. */
export async function storeDatabaseOwner(db: D1Database, own: readonly string[]): Promise<void> {
  const fingerprints = own.join(' ');
  await drizzle(db)
    .insert(databaseOwner)
    .values({ id: 1, fingerprints })
    .onConflictDoUpdate({ target: databaseOwner.id, set: { fingerprints } });
}
