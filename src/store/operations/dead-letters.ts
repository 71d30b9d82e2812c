import { desc, lt } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { deadLetters } from '#store/operations/schema.ts';

export type DeadLetter = typeof deadLetters.$inferSelect;

/**
 * Stores a message that a queue has given up on. Its id makes a second delivery of the same message
 * one row.
 */
export async function addDeadLetter(db: D1Database, letter: DeadLetter): Promise<void> {
  await drizzle(db).insert(deadLetters).values(letter).onConflictDoNothing();
}

/** Returns the newest dead letters first. */
export async function listDeadLetters(db: D1Database, limit: number): Promise<readonly DeadLetter[]> {
  return drizzle(db).select().from(deadLetters).orderBy(desc(deadLetters.atMs)).limit(limit);
}

/** Deletes dead letters from before a time. */
export async function pruneDeadLetters(db: D1Database, beforeMs: number): Promise<void> {
  await drizzle(db).delete(deadLetters).where(lt(deadLetters.atMs, beforeMs));
}
