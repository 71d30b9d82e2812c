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

/**
 * Stores the outcome of a delivery, or the time of its next try. A delivery that was processed
 * meanwhile does not change. A completed one keeps no body: nothing reads it again, and a body can
 * have a megabyte.
 */
export async function updateDelivery(
  db: D1Database,
  id: string,
  change: Pick<StoredDelivery, 'state' | 'tries' | 'dueAtMs' | 'outcome'>,
): Promise<void> {
  const isOpen = and(eq(deliveries.id, id), eq(deliveries.state, 'open'));
  const body = change.state === 'done' ? { body: '' } : {};
  await drizzle(db)
    .update(deliveries)
    .set({ ...change, ...body })
    .where(isOpen);
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
