import { and, count, desc, eq, isNull } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { TokenId, UserId } from '#domain/id.ts';
import { parseTokenId } from '#domain/id.ts';
import { accessTokens } from '#store/schema.ts';

/** Inserts a token into the directory of its owner. Idempotent. */
export async function insertAccessToken(db: D1Database, token: typeof accessTokens.$inferInsert): Promise<void> {
  await drizzle(db).insert(accessTokens).values(token).onConflictDoNothing();
}

/**
 * Removes a deleted token from the lists. Its object already refuses it, so a late call does no
 * harm.
 */
export async function markDeleted(db: D1Database, id: TokenId, deletedAtMs: number): Promise<void> {
  await drizzle(db).update(accessTokens).set({ deletedAtMs }).where(eq(accessTokens.id, id));
}

/** Returns the ids of a user's tokens, newest first. */
export async function tokensOf(db: D1Database, userId: UserId): Promise<readonly TokenId[]> {
  const found = await drizzle(db)
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(and(eq(accessTokens.userId, userId), isNull(accessTokens.deletedAtMs)))
    .orderBy(desc(accessTokens.createdAtMs), desc(accessTokens.id));
  return found.map(({ id }) => parseTokenId(id)).filter((id) => id !== null);
}

export async function tokenCount(db: D1Database, userId: UserId): Promise<number> {
  const [row] = await drizzle(db)
    .select({ tokens: count() })
    .from(accessTokens)
    .where(and(eq(accessTokens.userId, userId), isNull(accessTokens.deletedAtMs)));
  return row?.tokens ?? 0;
}
