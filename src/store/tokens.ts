import { and, eq, inArray, lt, sql } from 'drizzle-orm';
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
  const found: KnownToken[] = [];
  for (let start = 0; start < addresses.length; start += AT_ONCE) {
    const some = addresses.slice(start, start + AT_ONCE);
    const isOne = and(eq(tokens.chain, chain), inArray(tokens.address, some));
    found.push(...(await drizzle(db).select().from(tokens).where(isOne)));
  }
  return found;
}

/** What was said last of the prices of some assets. */
export async function knownPrices(db: D1Database, assets: readonly string[]): Promise<readonly KnownPrice[]> {
  const found: KnownPrice[] = [];
  for (let start = 0; start < assets.length; start += AT_ONCE) {
    const some = assets.slice(start, start + AT_ONCE);
    found.push(...(await drizzle(db).select().from(prices).where(inArray(prices.asset, some))));
  }
  return found;
}

/** Forgets what nobody has asked for since a time, some at once: strangers make tokens by the thousand. */
export async function pruneAppraisals(
  db: D1Database,
  query: { readonly askedBeforeMs: number; readonly limit: number },
): Promise<void> {
  const orm = drizzle(db);
  const oldPrices = orm
    .select({ asset: prices.asset })
    .from(prices)
    .where(lt(prices.askedAtMs, query.askedBeforeMs))
    .limit(query.limit);
  await orm.delete(prices).where(inArray(prices.asset, oldPrices));
  const isOld = lt(tokens.readAtMs, query.askedBeforeMs);
  await orm.delete(tokens).where(sql`rowid in (select rowid from ${tokens} where ${isOld} limit ${query.limit})`);
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
