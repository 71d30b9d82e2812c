import { errorText } from '#store/error-text.ts';

/** Returns the name of the newest migration of D1 that wrangler has applied; null without one. */
export async function newestMigration(db: D1Database): Promise<string | null> {
  try {
    const row = await db.prepare('SELECT name FROM d1_migrations ORDER BY id DESC LIMIT 1').first<{ name: string }>();
    return row?.name ?? null;
  } catch (error) {
    // The table is one of wrangler. A database that was set up otherwise has none.
    if (errorText(error).includes('no such table')) return null;
    throw error;
  }
}
