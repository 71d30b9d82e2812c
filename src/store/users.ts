import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { UserProfile } from '#domain/access/access-token.ts';
import type { UserId } from '#domain/id.ts';
import { parseUserId } from '#domain/id.ts';
import { users } from '#store/schema.ts';

/** Inserts a user, or finds the one with this e-mail address. Idempotent. */
export async function insertUser(
  db: D1Database,
  user: UserProfile & { readonly createdAtMs: number },
): Promise<{ readonly user: UserProfile; readonly created: boolean }> {
  const orm = drizzle(db);
  await orm.insert(users).values(user).onConflictDoNothing();
  const [found] = await orm.select().from(users).where(eq(users.email, user.email));
  const profile = found === undefined ? null : profileOf(found);
  if (profile === null) throw new Error('a user that was just inserted cannot be read');
  return { user: profile, created: profile.id === user.id };
}

export async function findUser(db: D1Database, id: string): Promise<UserProfile | null> {
  const [found] = await drizzle(db).select().from(users).where(eq(users.id, id));
  return found === undefined ? null : profileOf(found);
}

/** Returns which of these ids are those of users. */
export async function knownUserIds(db: D1Database, ids: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  // One query, because a vault has up to 200 members, and an invocation a limited number of calls.
  const query = 'SELECT id FROM users WHERE id IN (SELECT value FROM json_each(?))';
  const { results } = await db.prepare(query).bind(JSON.stringify(ids)).all<{ id: string }>();
  const found = new Set(results.map(({ id }) => id));
  return new Set(ids.filter((id) => found.has(id)));
}

/**
 * Returns the user with an e-mail address, or null.
 *
 * @param email lower case
 */
export async function findUserByEmail(db: D1Database, email: string): Promise<UserProfile | null> {
  const [found] = await drizzle(db).select().from(users).where(eq(users.email, email));
  return found === undefined ? null : profileOf(found);
}

function profileOf(row: typeof users.$inferSelect): UserProfile | null {
  const id = parseUserId(row.id);
  return id === null ? null : { id, name: row.name, email: row.email };
}
