import { and, asc, desc, eq, getTableColumns, gt, lt, sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { insertRows, jsonTexts } from '#store/json-rows.ts';
import { audit, transactions } from '#store/schema.ts';

export type ProjectedRow = typeof transactions.$inferInsert;
export type AuditRow = typeof audit.$inferInsert;

const NEWER = Object.values(getTableColumns(transactions)).map(({ name }) => `${name} = excluded.${name}`);
const UPSERT = `${insertRows(transactions)}
  ON CONFLICT (id) DO UPDATE SET ${NEWER.join()} WHERE excluded.version > transactions.version`;
const APPEND = `${insertRows(audit)} ON CONFLICT DO NOTHING`;

/**
 * Writes records and audit entries in one D1 batch, which is one transaction. Idempotent: a record
 * replaces only an older version of itself, and an existing entry does not change. Therefore the
 * same projection may be written twice, late or out of order.
 */
export async function project(
  db: D1Database,
  projection: { readonly records: readonly ProjectedRow[]; readonly lines: readonly AuditRow[] },
): Promise<void> {
  const statements = [
    ...jsonTexts(projection.records).map((text) => db.prepare(UPSERT).bind(text)),
    ...jsonTexts(projection.lines).map((text) => db.prepare(APPEND).bind(text)),
  ];
  if (statements.length > 0) await db.batch(statements);
}

/** The filters of a list. A field that is null admits everything. */
export interface TransactionQuery {
  readonly vaultId: number;
  /** Id of the last transaction of the previous page, or null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  readonly state: string | null;
  readonly displayType: string | null;
  readonly chain: string | null;
  readonly direction: string | null;
  readonly visible: boolean | null;
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
  readonly updatedAfterMs: number | null;
}

export interface TransactionPage {
  /** The document of each record, newest first. */
  readonly records: readonly { readonly id: string; readonly record: string }[];
  /** The id to continue after, or null at the end. */
  readonly next: string | null;
}

/**
 * Returns one page of a vault, newest first. The key of the page is the id, which never changes:
 * paging by a time of change misses rows that change between two pages.
 */
export async function list(db: D1Database, query: TransactionQuery): Promise<TransactionPage> {
  const found = await drizzle(db)
    .select({ id: transactions.id, record: transactions.record })
    .from(transactions)
    .where(and(...conditionsOf(query)))
    .orderBy(desc(transactions.id))
    .limit(query.limit + 1);
  const page = found.slice(0, query.limit);
  return {
    records: page,
    next: found.length > query.limit ? (page.at(-1)?.id ?? null) : null,
  };
}

function conditionsOf(query: TransactionQuery): SQL[] {
  const conditions = [eq(transactions.vaultId, query.vaultId)];
  if (query.after !== null) conditions.push(lt(transactions.id, query.after));
  if (query.state !== null) conditions.push(eq(transactions.state, query.state));
  if (query.displayType !== null) conditions.push(eq(transactions.displayType, query.displayType));
  if (query.chain !== null) conditions.push(eq(transactions.chain, query.chain));
  if (query.direction !== null) conditions.push(eq(transactions.direction, query.direction));
  if (query.visible !== null) conditions.push(eq(transactions.visible, query.visible));
  if (query.createdAfterMs !== null) conditions.push(gt(transactions.createdAtMs, query.createdAfterMs));
  if (query.createdBeforeMs !== null) conditions.push(lt(transactions.createdAtMs, query.createdBeforeMs));
  if (query.updatedAfterMs !== null) conditions.push(gt(transactions.updatedAtMs, query.updatedAfterMs));
  return conditions;
}

/**
 * Returns vaults with a watched transaction that has not changed since, the longest unchanged
 * first.
 */
export async function stalledVaults(
  db: D1Database,
  query: { readonly updatedBeforeMs: number; readonly limit: number },
): Promise<readonly number[]> {
  const found = await drizzle(db)
    .select({ vaultId: transactions.vaultId })
    .from(transactions)
    .where(and(eq(transactions.watched, true), lt(transactions.updatedAtMs, query.updatedBeforeMs)))
    .groupBy(transactions.vaultId)
    .orderBy(asc(sql`min(${transactions.updatedAtMs})`))
    .limit(query.limit);
  return found.map((row) => row.vaultId);
}
