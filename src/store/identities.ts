import { and, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { UserProfile } from '#domain/access/access-token.ts';
import type { UserId } from '#domain/id.ts';
import { findUser, findUserByEmail } from '#store/users.ts';
import { identities } from '#store/schema.ts';

/** A user as an identity provider knows them. */
interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Lower case. */
  readonly verifiedEmail: string | null;
}

/**
 * Returns the user of an identity, or null. A first login is matched by the verified e-mail
 * address, and every later one only by the subject. A user has one identity of an issuer: another
 * holder of the user's old address does not become that user.
 */
export async function userOfIdentity(db: D1Database, identity: Identity, nowMs: number): Promise<UserProfile | null> {
  const { issuer, subject, verifiedEmail } = identity;
  const known = await knownUser(db, issuer, subject);
  if (known !== null) return findUser(db, known);
  const user = verifiedEmail === null ? null : await findUserByEmail(db, verifiedEmail);
  if (user === null) return null;
  const row = { issuer, subject, userId: user.id, createdAtMs: nowMs };
  await drizzle(db).insert(identities).values(row).onConflictDoNothing();
  return (await knownUser(db, issuer, subject)) === user.id ? user : null;
}

/** Allows the user to log in with another identity next time. Idempotent. */
export async function deleteIdentities(db: D1Database, userId: UserId): Promise<void> {
  await drizzle(db).delete(identities).where(eq(identities.userId, userId));
}

async function knownUser(db: D1Database, issuer: string, subject: string): Promise<string | null> {
  const [row] = await drizzle(db)
    .select({ userId: identities.userId })
    .from(identities)
    .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)));
  return row?.userId ?? null;
}
