import { and, asc, eq, isNull, lte, or, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { QueueName, QueueState } from '#domain/operations/queue.ts';
import { QUEUES } from '#domain/operations/queue.ts';
import { queueProbes } from '#store/operations/schema.ts';

/** Records that a test message is sent to each queue. The oldest open one of a queue counts. */
export async function openQueueProbes(db: D1Database, sentAtMs: number): Promise<void> {
  await drizzle(db)
    .insert(queueProbes)
    .values(QUEUES.map((queue) => ({ queue, openSinceMs: sentAtMs })))
    .onConflictDoUpdate({
      target: queueProbes.queue,
      set: { openSinceMs: sql`coalesce(${queueProbes.openSinceMs}, excluded.open_since_ms)` },
    });
}

/**
 * Records that a test message came back. It answers for the earlier ones as well: a queue may lose
 * or reorder one. An old one that comes twice answers for no later one.
 */
export async function closeQueueProbe(
  db: D1Database,
  queue: QueueName,
  { sentAtMs, nowMs }: { readonly sentAtMs: number; readonly nowMs: number },
): Promise<void> {
  const isAnswered = or(isNull(queueProbes.openSinceMs), lte(queueProbes.openSinceMs, sentAtMs));
  await drizzle(db)
    .update(queueProbes)
    .set({ openSinceMs: null, returnedAtMs: nowMs })
    .where(and(eq(queueProbes.queue, queue), isAnswered));
}

/** Returns the queues that were tested at least once. */
export async function readQueues(db: D1Database): Promise<readonly QueueState[]> {
  const rows = await drizzle(db).select().from(queueProbes).orderBy(asc(queueProbes.queue));
  return rows.flatMap((row) => {
    const queue = QUEUES.find((known) => known === row.queue);
    return queue === undefined ? [] : [{ ...row, queue }];
  });
}
