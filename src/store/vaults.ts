import { asc, eq, inArray, lt } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { vaults, wallets } from '#store/schema.ts';

/**
 * The id of the vault with this reference: a new one, or the one it had before. An operator whose answer was lost asks again
 * and gets the same vault.
 */
export async function allocateVault(
  db: D1Database,
  vault: { readonly name: string; readonly reference: string; readonly createdAtMs: number },
): Promise<number> {
  const orm = drizzle(db);
  await orm.insert(vaults).values(vault).onConflictDoNothing();
  const [found] = await orm.select({ id: vaults.id }).from(vaults).where(eq(vaults.reference, vault.reference));
  if (found === undefined) throw new Error('a vault that was just inserted must be there');
  return found.id;
}

/** Enters the addresses of a vault's key. Idempotent: an address has one vault for good. */
export async function enterWallets(
  db: D1Database,
  entry: { readonly vaultId: number; readonly keyId: string; readonly addresses: Readonly<Record<string, string>> },
): Promise<void> {
  const rows = Object.entries(entry.addresses).map(([chain, address]) => ({
    chain,
    address,
    vaultId: entry.vaultId,
    keyId: entry.keyId,
  }));
  if (rows.length > 0) await drizzle(db).insert(wallets).values(rows).onConflictDoNothing();
}

/** The vaults that were not woken since, the longest first, marked as woken now. */
export async function takeVaultsToNudge(
  db: D1Database,
  query: { readonly nudgedBeforeMs: number; readonly nowMs: number; readonly limit: number },
): Promise<readonly number[]> {
  const orm = drizzle(db);
  const oldest = orm
    .select({ id: vaults.id })
    .from(vaults)
    .where(lt(vaults.nudgedAtMs, query.nudgedBeforeMs))
    .orderBy(asc(vaults.nudgedAtMs))
    .limit(query.limit);
  // One statement: a list of ids would meet D1's limit of a hundred parameters.
  const taken = await orm
    .update(vaults)
    .set({ nudgedAtMs: query.nowMs })
    .where(inArray(vaults.id, oldest))
    .returning({ id: vaults.id });
  return taken.map(({ id }) => id);
}
