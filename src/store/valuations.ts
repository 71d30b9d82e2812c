import { and, eq, inArray, lt, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { inBatches } from '#store/batched-query.ts';
import { prices, tokens } from '#store/schema.ts';

export type CachedToken = typeof tokens.$inferSelect;
export type CachedPrice = typeof prices.$inferSelect;

/** Returns the cached data of some tokens of a chain. */
export function cachedTokens(
  db: D1Database,
  chain: string,
  addresses: readonly string[],
): Promise<readonly CachedToken[]> {
  return inBatches(addresses, (some) =>
    drizzle(db)
      .select()
      .from(tokens)
      .where(and(eq(tokens.chain, chain), inArray(tokens.address, [...some]))),
  );
}

/** Returns the last answers on the prices of some assets. */
export function cachedPrices(db: D1Database, assets: readonly string[]): Promise<readonly CachedPrice[]> {
  return inBatches(assets, (some) =>
    drizzle(db)
      .select()
      .from(prices)
      .where(inArray(prices.asset, [...some])),
  );
}

/** Deletes prices that were not requested since a time, up to a limit. Returns their number. */
export async function prunePrices(
  db: D1Database,
  query: { readonly requestedBeforeMs: number; readonly limit: number },
): Promise<number> {
  const orm = drizzle(db);
  const oldPrices = orm
    .select({ asset: prices.asset })
    .from(prices)
    .where(lt(prices.requestedAtMs, query.requestedBeforeMs))
    .limit(query.limit);
  const deleted = await orm.delete(prices).where(inArray(prices.asset, oldPrices));
  return deleted.meta.changes;
}

/**
 * Deletes tokens that were read before a time, up to a limit: strangers create tokens by the
 * thousand. Returns their number.
 */
export async function pruneTokens(
  db: D1Database,
  query: { readonly readBeforeMs: number; readonly limit: number },
): Promise<number> {
  const isOld = lt(tokens.readAtMs, query.readBeforeMs);
  const deleted = await drizzle(db)
    .delete(tokens)
    .where(sql`rowid in (select rowid from ${tokens} where ${isOld} limit ${query.limit})`);
  return deleted.meta.changes;
}

/** Stores a valuation. The newest answer prevails. */
export async function saveValuation(
  db: D1Database,
  found: { readonly tokens: readonly CachedToken[]; readonly prices: readonly CachedPrice[] },
): Promise<void> {
  const orm = drizzle(db);
  const writes = [
    ...found.tokens.map((token) =>
      orm
        .insert(tokens)
        .values(token)
        .onConflictDoUpdate({ target: [tokens.chain, tokens.address], set: token }),
    ),
    ...found.prices.map((price) =>
      orm
        .insert(prices)
        .values(price)
        .onConflictDoUpdate({
          target: prices.asset,
          set: price,
          setWhere: sql`excluded.asked_at_ms >= ${prices.requestedAtMs}`,
        }),
    ),
  ];
  const [first, ...rest] = writes;
  if (first !== undefined) await orm.batch([first, ...rest]);
}
