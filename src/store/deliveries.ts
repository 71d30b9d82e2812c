import { and, eq, inArray } from 'drizzle-orm';
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

/** The last time of a delivery is this exact, so that not each delivery writes to its endpoint. */
const ENDPOINT_INTERVAL_MS = 60_000;

/**
 * Stores the outcome of a delivery, or the time of its next try. A delivery that was processed
 * meanwhile does not change. A completed one keeps no body: nothing reads it again, and a body can
 * have a megabyte. Returns whether its endpoint has counted it as unread now.
 *
 * @param unread the name of what was not understood, or null; absent when the endpoint has already
 *   counted the delivery
 */
export async function updateDelivery(
  db: D1Database,
  id: string,
  change: Pick<StoredDelivery, 'state' | 'tries' | 'dueAtMs' | 'outcome'>,
  unread?: string | null,
): Promise<boolean> {
  const isOpen = and(eq(deliveries.id, id), eq(deliveries.state, 'open'));
  const body = change.state === 'done' ? { body: '' } : {};
  const update = drizzle(db)
    .update(deliveries)
    .set({ ...change, ...body })
    .where(isOpen);
  if (unread === undefined) {
    await update;
    return false;
  }
  const { sql, params } = update.toSQL();
  // One transaction, so that a delivery counts once however often its message arrives.
  const [counted] = await db.batch([countAtEndpoint(db, id, unread), db.prepare(sql).bind(...params)]);
  return unread !== null && counted?.meta.changes === 1;
}

const UNREAD_TIMES = 'unread_at_ms, second_unread_at_ms, third_unread_at_ms';
const COUNT_READ = `WHERE excluded.last_delivery_at_ms >= last_delivery_at_ms + ${ENDPOINT_INTERVAL_MS}`;
const COUNT_UNREAD = `, unread = unread + 1, unread_kind = excluded.unread_kind, unread_at_ms = excluded.unread_at_ms,
  second_unread_at_ms = unread_at_ms, third_unread_at_ms = second_unread_at_ms`;

/** Returns the statement that counts a delivery at its endpoint, unless it was processed before. */
function countAtEndpoint(db: D1Database, id: string, unread: string | null): D1PreparedStatement {
  const isUnread = unread !== null;
  const first = `SELECT endpoint_id, received_at_ms, ${isUnread ? 1 : 0}, ?, ${isUnread ? 'received_at_ms' : 'NULL'},
    NULL, NULL FROM deliveries WHERE id = ? AND state = 'open' AND tries = 0`;
  return db
    .prepare(
      `INSERT INTO monitor_endpoints (endpoint_id, last_delivery_at_ms, unread, unread_kind, ${UNREAD_TIMES}) ${first}
      ON CONFLICT (endpoint_id) DO UPDATE
      SET last_delivery_at_ms = max(last_delivery_at_ms, excluded.last_delivery_at_ms)
      ${isUnread ? COUNT_UNREAD : COUNT_READ}`,
    )
    .bind(unread, id);
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
