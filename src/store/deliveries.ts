import { and, asc, desc, eq, inArray, lt, lte } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { inBatches } from '#store/batched-query.ts';
import { deliveries, transactions, wallets } from '#store/schema.ts';

export type StoredDelivery = typeof deliveries.$inferSelect;

/**
 * Stores a delivery, and reports whether it has work to do. A repeated delivery does not change its
 * row.
 */
export async function insertDelivery(
  db: D1Database,
  delivery: Pick<StoredDelivery, 'id' | 'provider' | 'endpointId' | 'body' | 'receivedAtMs'>,
): Promise<boolean> {
  const orm = drizzle(db);
  const fresh = { ...delivery, state: 'open' as const, tries: 0, dueAtMs: delivery.receivedAtMs };
  // A monitor waits for the answer, so this is one round trip to the database instead of two.
  const [, [kept]] = await orm.batch([
    orm.insert(deliveries).values(fresh).onConflictDoNothing(),
    orm.select({ state: deliveries.state }).from(deliveries).where(eq(deliveries.id, delivery.id)),
  ]);
  return kept?.state === 'open';
}

/** Returns the delivery, or null when it is processed or does not exist. */
export async function openDelivery(db: D1Database, id: string): Promise<StoredDelivery | null> {
  const isOpen = and(eq(deliveries.id, id), eq(deliveries.state, 'open'));
  const [row] = await drizzle(db).select().from(deliveries).where(isOpen);
  return row ?? null;
}

/**
 * Stores the outcome of a delivery, or the time of its next try. A delivery that was processed
 * meanwhile does not change.
 */
export async function updateDelivery(
  db: D1Database,
  id: string,
  change: Pick<StoredDelivery, 'state' | 'tries' | 'dueAtMs' | 'outcome'>,
): Promise<void> {
  const isOpen = and(eq(deliveries.id, id), eq(deliveries.state, 'open'));
  await drizzle(db).update(deliveries).set(change).where(isOpen);
}

/**
 * Returns open deliveries that are due, the oldest first: their message was lost, or they wait for
 * their chain. The caller sends their messages, and the next caller gets others.
 */
export async function claimDueDeliveries(
  db: D1Database,
  query: { readonly dueBeforeMs: number; readonly nowMs: number; readonly limit: number },
): Promise<readonly string[]> {
  const orm = drizzle(db);
  const due = orm
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(eq(deliveries.state, 'open'), lte(deliveries.dueAtMs, query.dueBeforeMs)))
    .orderBy(asc(deliveries.dueAtMs))
    .limit(query.limit);
  const taken = await orm
    .update(deliveries)
    .set({ dueAtMs: query.nowMs })
    .where(and(eq(deliveries.state, 'open'), inArray(deliveries.id, due)))
    .returning({ id: deliveries.id });
  return taken.map(({ id }) => id);
}

/** The maximum number in one call. The next call continues with the next ones. */
const REOPENED_AT_ONCE = 100;

/** Reopens failed deliveries, the newest first, for another day of tries. */
export async function reopenFailed(db: D1Database, nowMs: number): Promise<readonly string[]> {
  const orm = drizzle(db);
  const failed = orm
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(eq(deliveries.state, 'failed'))
    .orderBy(desc(deliveries.receivedAtMs))
    .limit(REOPENED_AT_ONCE);
  const fresh = { state: 'open' as const, tries: 0, dueAtMs: nowMs, receivedAtMs: nowMs };
  const reopened = await orm
    .update(deliveries)
    .set(fresh)
    .where(inArray(deliveries.id, failed))
    .returning({ id: deliveries.id });
  return reopened.map(({ id }) => id);
}

/**
 * Deletes processed deliveries from before a time, up to a limit. Their results are in the vaults.
 */
export async function pruneDeliveries(
  db: D1Database,
  query: { readonly receivedBeforeMs: number; readonly limit: number },
): Promise<void> {
  const orm = drizzle(db);
  const old = orm
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(eq(deliveries.state, 'done'), lt(deliveries.receivedAtMs, query.receivedBeforeMs)))
    .limit(query.limit);
  await orm.delete(deliveries).where(inArray(deliveries.id, old));
}

/** Returns the vaults that already have a record of this transaction. */
export async function vaultsWithTransaction(
  db: D1Database,
  chain: string,
  txHash: string,
): Promise<ReadonlySet<number>> {
  const rows = await drizzle(db)
    .select({ vaultId: transactions.vaultId })
    .from(transactions)
    .where(and(eq(transactions.txHash, txHash), eq(transactions.chain, chain)));
  return new Set(rows.map(({ vaultId }) => vaultId));
}

/** Returns the wallets on a chain among these addresses, each with its vault. */
export function walletsAt(
  db: D1Database,
  chain: string,
  addresses: readonly string[],
): Promise<readonly { readonly vaultId: number; readonly address: string }[]> {
  return inBatches(addresses, (some) =>
    drizzle(db)
      .select({ vaultId: wallets.vaultId, address: wallets.address })
      .from(wallets)
      .where(and(eq(wallets.chain, chain), inArray(wallets.address, [...some]))),
  );
}
