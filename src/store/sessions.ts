import { and, asc, eq, gte, lt } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { TokenId, UserId } from '#domain/id.ts';
import { parseTokenId } from '#domain/id.ts';
import { sessions } from '#store/schema.ts';

/**
 * Stores which sessions a user has begun, so that all of them can be ended. Only its object knows
 * whether a session is open.
 */
export async function insertSession(
  db: D1Database,
  session: { readonly id: TokenId; readonly userId: UserId; readonly createdAtMs: number },
): Promise<void> {
  await drizzle(db).insert(sessions).values(session).onConflictDoNothing();
}

/**
 * Ours: the number of sessions that a user can begin in a day before the oldest one ends. Each has
 * its own rate limits.
 */
export const MAX_SESSIONS = 50;

/** Returns the sessions that a user began since a time, the oldest first. */
export async function sessionsOf(db: D1Database, userId: UserId, sinceMs: number): Promise<readonly TokenId[]> {
  const rows = await drizzle(db)
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gte(sessions.createdAtMs, sinceMs)))
    .orderBy(asc(sessions.createdAtMs));
  return rows.flatMap(({ id }) => parseTokenId(id) ?? []);
}

/** Returns sessions that were created before a time, the oldest first. */
export async function sessionsBefore(
  db: D1Database,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<readonly TokenId[]> {
  const rows = await drizzle(db)
    .select({ id: sessions.id })
    .from(sessions)
    .where(lt(sessions.createdAtMs, beforeMs))
    .orderBy(asc(sessions.createdAtMs))
    .limit(limit);
  return rows.flatMap(({ id }) => parseTokenId(id) ?? []);
}

/** Deletes sessions from the directory. Their objects are empty already. */
export async function deleteSessions(db: D1Database, ids: readonly TokenId[]): Promise<void> {
  const statement = 'DELETE FROM sessions WHERE id IN (SELECT value FROM json_each(?))';
  await db.prepare(statement).bind(JSON.stringify(ids)).run();
}
