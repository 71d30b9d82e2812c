import { drizzle } from 'drizzle-orm/d1';
import { accessTokens } from '#store/schema.ts';

/** Enters a token into the read model. Idempotent. The token's object is the truth. */
export async function enterAccessToken(db: D1Database, token: typeof accessTokens.$inferInsert): Promise<void> {
  await drizzle(db).insert(accessTokens).values(token).onConflictDoNothing();
}
