import { and, eq, inArray, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { prices, tokens } from '#store/schema.ts';

export type KnownToken = typeof tokens.$inferSelect;
export type KnownPrice = typeof prices.$inferSelect;

/** D1 takes a hundred parameters. */
const AT_ONCE = 80;

/** What is known of some tokens of a chain. */
export async function knownTokens(
  db: D1Database,
  chain: string,
  addresses: readonly string[],
): Promise<readonly KnownToken[]> {
  const some = addresses.slice(0, AT_ONCE);
  if (some.length === 0) return [];
  return drizzle(db)
    .select()
    .from(tokens)
    .where(and(eq(tokens.chain, chain), inArray(tokens.address, some)));
}

/** What was said last of the prices of some assets. */
export async function knownPrices(db: D1Database, assets: readonly string[]): Promise<readonly KnownPrice[]> {
  const some = assets.slice(0, AT_ONCE);
  return some.length === 0 ? [] : drizzle(db).select().from(prices).where(inArray(prices.asset, some));
}

/** The newest answer stands. */
export async function keepAppraisal(
  db: D1Database,
  found: { readonly tokens: readonly KnownToken[]; readonly prices: readonly KnownPrice[] },
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
          setWhere: sql`excluded.asked_at_ms >= ${prices.askedAtMs}`,
        }),
    ),
  ];
  const [first, ...rest] = writes;
  if (first !== undefined) await orm.batch([first, ...rest]);
}
