import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { UserProfile } from '#domain/access/access-token.ts';
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
  if (profile === null) throw new Error('a user that was just inserted must be there');
  return { user: profile, created: profile.id === user.id };
}

export async function findUser(db: D1Database, id: string): Promise<UserProfile | null> {
  const [found] = await drizzle(db).select().from(users).where(eq(users.id, id));
  return found === undefined ? null : profileOf(found);
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
