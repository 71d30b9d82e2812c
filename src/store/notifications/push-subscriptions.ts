import { and, asc, eq, inArray } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { UserId } from '#domain/id.ts';
import { inBatches } from '#store/batched-query.ts';
import { pushSubscriptions } from '#store/notifications/schema.ts';

export type PushSubscriptionRow = typeof pushSubscriptions.$inferSelect;

/**
 * Stores a subscription. A browser subscribes for the user who last logged in there: the same
 * endpoint is the same row.
 */
export async function upsertSubscription(db: D1Database, row: PushSubscriptionRow): Promise<void> {
  await drizzle(db)
    .insert(pushSubscriptions)
    .values(row)
    .onConflictDoUpdate({ target: pushSubscriptions.id, set: row });
}

/** Returns a user's own subscriptions, oldest first. */
export async function subscriptionsOf(db: D1Database, userId: UserId): Promise<readonly PushSubscriptionRow[]> {
  return drizzle(db)
    .select()
    .from(pushSubscriptions)
    .where(eq(pushSubscriptions.userId, userId))
    .orderBy(asc(pushSubscriptions.createdAtMs), asc(pushSubscriptions.id));
}

/** Removes a subscription, and reports whether there was one. */
export async function removeSubscription(db: D1Database, userId: string, id: string): Promise<boolean> {
  const own = and(eq(pushSubscriptions.userId, userId), eq(pushSubscriptions.id, id));
  const removed = await drizzle(db).delete(pushSubscriptions).where(own).returning({ id: pushSubscriptions.id });
  return removed.length > 0;
}

/** Returns the subscriptions of some users. */
export function subscriptionsOfAll(
  db: D1Database,
  userIds: readonly UserId[],
): Promise<readonly PushSubscriptionRow[]> {
  return inBatches(userIds, (some) =>
    drizzle(db)
      .select()
      .from(pushSubscriptions)
      .where(inArray(pushSubscriptions.userId, [...some])),
  );
}
