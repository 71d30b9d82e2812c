import { and, asc, desc, eq, isNull, lt } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { TokenId, UserId } from '#domain/id.ts';
import { parseTokenId } from '#domain/id.ts';
import { accessTokens } from '#store/schema.ts';

/** A list reads the object of each token, and no user can manage more. */
export const MAX_ACCESS_TOKENS = 50;

/**
 * Inserts a token into the directory of its owner, unless the owner has `MAX_ACCESS_TOKENS`.
 * Idempotent. One statement counts and inserts, so requests at the same time cannot pass the limit.
 * Reports whether the directory has the token.
 */
export async function insertAccessToken(
  db: D1Database,
  { id, userId, createdAtMs }: typeof accessTokens.$inferInsert,
): Promise<boolean> {
  const insert = `
    INSERT INTO access_tokens (id, user_id, created_at_ms)
    SELECT ?1, ?2, ?3
    WHERE (SELECT count(*) FROM access_tokens WHERE user_id = ?2 AND deleted_at_ms IS NULL AND id <> ?1) < ?4
    ON CONFLICT (id) DO UPDATE SET id = id
    RETURNING id`;
  return (await db.prepare(insert).bind(id, userId, createdAtMs, MAX_ACCESS_TOKENS).first()) !== null;
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

/** Returns tokens that were deleted before a time, the oldest first. */
export async function tokensDeletedBefore(
  db: D1Database,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<readonly TokenId[]> {
  const found = await drizzle(db)
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(lt(accessTokens.deletedAtMs, beforeMs))
    .orderBy(asc(accessTokens.deletedAtMs))
    .limit(limit);
  return found.flatMap(({ id }) => parseTokenId(id) ?? []);
}

/** Removes deleted tokens from the directory. Their objects are empty already. */
export async function removeAccessTokens(db: D1Database, ids: readonly TokenId[]): Promise<void> {
  const statement =
    'DELETE FROM access_tokens WHERE id IN (SELECT value FROM json_each(?)) AND deleted_at_ms IS NOT NULL';
  await db.prepare(statement).bind(JSON.stringify(ids)).run();
}
