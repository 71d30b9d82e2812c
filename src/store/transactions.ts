import { getTableColumns } from 'drizzle-orm';
import type { VaultId } from '#domain/id.ts';
import { firstTransactionId } from '#domain/id.ts';
import { insertRows, jsonTexts } from '#store/json-rows.ts';
import { audit, transactions } from '#store/schema.ts';

export type ProjectedRow = typeof transactions.$inferInsert;
export type AuditRow = typeof audit.$inferInsert;

const NEWER = Object.values(getTableColumns(transactions)).map(({ name }) => `${name} = excluded.${name}`);
const UPSERT = `${insertRows(transactions)}
  ON CONFLICT (id) DO UPDATE SET ${NEWER.join()} WHERE excluded.version > transactions.version`;
const REMOVE = `DELETE FROM transactions WHERE id IN (SELECT value FROM json_each(?))`;
const APPEND = `${insertRows(audit)} ON CONFLICT DO NOTHING`;

/** Changes of the read model. */
interface Projection {
  readonly records: readonly ProjectedRow[];
  readonly lines: readonly AuditRow[];
  /** The ids of records that the vault has deleted. */
  readonly deleted: readonly string[];
}

/**
 * Writes records and audit entries in one D1 batch, which is one transaction. Idempotent: a record
 * replaces only an older version of itself, and an existing entry does not change. Therefore the
 * same projection may be written twice, late or out of order.
 */
export async function project(db: D1Database, { records, lines, deleted }: Projection): Promise<void> {
  const statements = [
    ...jsonTexts(records).map((text) => db.prepare(UPSERT).bind(text)),
    ...jsonTexts(lines).map((text) => db.prepare(APPEND).bind(text)),
    ...(deleted.length === 0 ? [] : [db.prepare(REMOVE).bind(JSON.stringify(deleted))]),
  ];
  if (statements.length > 0) await db.batch(statements);
}

/**
 * The filters with an index, the most selective first. The first one of a query decides the index;
 * the others filter its rows.
 */
const INDEXED = ['externalId', 'txHash', 'memo', 'state', 'displayType', 'chain', 'direction'] as const;
type IndexedFilter = (typeof INDEXED)[number];
const COLUMNS: Readonly<Record<IndexedFilter | 'kind' | 'createdBy', string>> = {
  externalId: 'external_id',
  txHash: 'tx_hash',
  memo: 'memo',
  state: 'state',
  displayType: 'display_type',
  chain: 'chain',
  direction: 'direction',
  kind: 'kind',
  createdBy: 'created_by',
};
/** The columns with several values between spaces. */
const LISTS = { tokenAddress: 'tokens', counterparty: 'counterparties' } as const;

/** The values of each filter, of which a record has one. An absent one admits everything. */
type ListFilters = {
  readonly [name in keyof typeof COLUMNS | keyof typeof LISTS]?: readonly string[] | undefined;
};

/** A list. A field that is null admits everything. */
export interface TransactionQuery {
  readonly vaultId: VaultId;
  readonly order: 'newest' | 'oldest';
  /** Id of the last transaction of the previous page, or null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  readonly filters: ListFilters;
  readonly visible: boolean | null;
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
  readonly updatedAfterMs: number | null;
}

export interface TransactionPage {
  /** The document of each record, in the order of the query. */
  readonly records: readonly ListedRow[];
  /** The id to continue after, or null at the end. */
  readonly next: string | null;
}

interface ListedRow {
  readonly id: string;
  readonly record: string;
}

/**
 * The rows of one query that can be read for a second filter. A page that would need more is
 * shorter than its limit, and the next one continues: D1 processes the queries of all vaults one by
 * one.
 */
const MAX_READ = 5_000;

/**
 * Returns one page of a vault by the time of creation. The key of the page is the id, which never
 * changes: paging by a time of change misses rows that change between two pages. A page of a query
 * with several filters can be shorter than its limit, or empty, although others follow.
 */
export async function list(db: D1Database, query: TransactionQuery): Promise<TransactionPage> {
  const updated = await recentlyUpdated(db, query);
  if (updated !== null) return updated;
  const index = INDEXED.find((name) => query.filters[name] !== undefined) ?? null;
  const filters = filtersOf(query.filters, index);
  if (query.updatedAfterMs !== null) filters.push(['updated_at_ms > ?', query.updatedAfterMs]);
  const ranges = rangesOf(query, index);
  const rows = ranges.map((range) => rowsIn(db, range, { filters, query }));
  const lasts = filters.length === 0 ? [] : ranges.map((range) => lastRead(db, range, query));
  const results = await db.batch<{ id: string; record?: string }>([...rows, ...lasts]);
  const read = results.slice(0, rows.length).flatMap((result) => result.results as ListedRow[]);
  const ends = results.slice(rows.length).flatMap((result) => result.results.map(({ id }) => id));
  const isAfter = (one: string, other: string) => (query.order === 'newest' ? one < other : one > other);
  const inOrder = (one: string, other: string) => (isAfter(one, other) ? 1 : -1);
  // Rows behind the first of these ids are not read completely.
  const end = ends.toSorted(inOrder)[0] ?? null;
  const found = read.filter(({ id }) => end === null || !isAfter(id, end));
  return pageOf(
    found.toSorted((one, other) => inOrder(one.id, other.id)),
    query.limit,
    end,
  );
}

/**
 * Returns a page.
 *
 * @param rows one more than the page has, where others follow
 * @param end the id to continue after when no others are in `rows`
 */
function pageOf(rows: readonly ListedRow[], limit: number, end: string | null): TransactionPage {
  const records = rows.slice(0, limit);
  return { records, next: rows.length > limit ? (records.at(-1)?.id ?? null) : end };
}

type Filter = readonly [condition: string, value: string | number];

/** Returns the conditions of the filters, except of the one that an index serves. */
function filtersOf(filters: ListFilters, index: IndexedFilter | null): Filter[] {
  const conditions: Filter[] = [];
  for (const [name, column] of Object.entries(COLUMNS)) {
    const values = filters[name as keyof typeof COLUMNS];
    if (values === undefined || name === index) continue;
    conditions.push([`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(values)]);
  }
  for (const [name, column] of Object.entries(LISTS)) {
    const values = filters[name as keyof typeof LISTS];
    if (values === undefined) continue;
    const has = `EXISTS (SELECT 1 FROM json_each(?) WHERE instr(${column}, ' ' || value || ' ') > 0)`;
    conditions.push([has, JSON.stringify(values)]);
  }
  return conditions;
}

/** The rows of a query in one index, in the order of their ids. */
interface Range {
  readonly index: string;
  readonly conditions: readonly Filter[];
}

/**
 * Returns the ranges that have the rows of a query: one for each value of the filter with the
 * index, because the order of an index is that of one value. An index also separates visible and
 * hidden rows.
 */
function rangesOf(query: TransactionQuery, filter: IndexedFilter | null): readonly Range[] {
  const name = filter === null ? (query.visible === null ? 'vault' : 'visible') : COLUMNS[filter];
  const values = filter === null ? [null] : (query.filters[filter] ?? []);
  const visibilities = query.visible === null && filter !== null ? [true, false] : [query.visible];
  return values.flatMap((value) =>
    visibilities.map((visible): Range => {
      const conditions: Filter[] = [['vault_id = ?', query.vaultId]];
      if (filter !== null && value !== null) conditions.push([`${COLUMNS[filter]} = ?`, value]);
      if (visible !== null) conditions.push(['visible = ?', visible ? 1 : 0]);
      conditions.push(...idsOf(query));
      return { index: `transactions_${name}`, conditions };
    }),
  );
}

/** Returns the bounds of the ids. An id begins with the time of creation. */
function idsOf({ vaultId, order, after, createdAfterMs, createdBeforeMs }: TransactionQuery): readonly Filter[] {
  const bounds: Filter[] = [];
  if (after !== null) bounds.push([order === 'newest' ? 'id < ?' : 'id > ?', after]);
  if (createdAfterMs !== null) bounds.push(['id >= ?', firstTransactionId(vaultId, createdAfterMs + 1)]);
  if (createdBeforeMs !== null) bounds.push(['id < ?', firstTransactionId(vaultId, createdBeforeMs)]);
  return bounds;
}

const ORDERS = { newest: 'ORDER BY id DESC', oldest: 'ORDER BY id' } as const;

function rowsIn(
  db: D1Database,
  { index, conditions }: Range,
  { filters, query }: { readonly filters: readonly Filter[]; readonly query: TransactionQuery },
) {
  const limit = query.limit + 1;
  const read = `SELECT * FROM transactions INDEXED BY ${index} WHERE ${textOf(conditions)} ${ORDERS[query.order]}`;
  const values = [...conditions, ...filters].map(([, value]) => value);
  if (filters.length === 0) return db.prepare(`SELECT id, record FROM (${read}) LIMIT ?`).bind(...values, limit);
  const some = `SELECT id, record FROM (${read} LIMIT ${MAX_READ}) WHERE ${textOf(filters)} LIMIT ?`;
  return db.prepare(some).bind(...values, limit);
}

/** Returns the statement for the last id that `rowsIn` reads; no row when it reads all of them. */
function lastRead(db: D1Database, { index, conditions }: Range, { order }: TransactionQuery) {
  const where = `INDEXED BY ${index} WHERE ${textOf(conditions)} ${ORDERS[order]}`;
  const last = `SELECT id FROM transactions ${where} LIMIT 1 OFFSET ${MAX_READ - 1}`;
  return db.prepare(last).bind(...conditions.map(([, value]) => value));
}

/**
 * Returns the page when few rows have changed since the time of the query: a client polls for them,
 * and they may be anywhere in the history. Returns null for another query.
 */
async function recentlyUpdated(db: D1Database, query: TransactionQuery): Promise<TransactionPage | null> {
  if (query.updatedAfterMs === null) return null;
  const range = 'transactions INDEXED BY transactions_updated WHERE vault_id = ? AND updated_at_ms > ?';
  const count = `SELECT count(*) AS rows FROM (SELECT 1 FROM ${range} LIMIT ${MAX_READ + 1})`;
  const counted = await db.prepare(count).bind(query.vaultId, query.updatedAfterMs).first<{ rows: number }>();
  if (counted === null || counted.rows > MAX_READ) return null;
  const filters = [...filtersOf(query.filters, null), ...idsOf(query)];
  if (query.visible !== null) filters.push(['visible = ?', query.visible ? 1 : 0]);
  const conditions = ['', ...filters.map(([condition]) => condition)].join(' AND ');
  const values = filters.map(([, value]) => value);
  const { results } = await db
    .prepare(`SELECT id, record FROM ${range}${conditions} ${ORDERS[query.order]} LIMIT ?`)
    .bind(query.vaultId, query.updatedAfterMs, ...values, query.limit + 1)
    .all<ListedRow>();
  return pageOf(results, query.limit, null);
}

function textOf(filters: readonly Filter[]): string {
  return filters.map(([condition]) => condition).join(' AND ');
}

/** The maximum number of due records that one claim reads. */
const MAX_DUE = 5_000;

/**
 * The interval at which a record that stays due is woken: a tenth of its age, from a minute to an
 * hour. So records that nothing changes take no places of others.
 */
const AGAIN = 'MAX(60000, MIN(3600000, (?1 - updated_at_ms) / 10))';

/**
 * Returns vaults with a record that was due before a time, the longest due first, and postpones
 * these records: the next caller gets others.
 */
export async function claimStalledVaults(
  db: D1Database,
  query: { readonly dueBeforeMs: number; readonly nowMs: number; readonly limit: number },
): Promise<readonly number[]> {
  const due = `SELECT id, vault_id, due_at_ms FROM transactions WHERE due_at_ms <= ?2 ORDER BY due_at_ms LIMIT ${MAX_DUE}`;
  const first = 'SELECT vault_id FROM due GROUP BY vault_id ORDER BY MIN(due_at_ms) LIMIT ?3';
  const claim = `WITH due AS MATERIALIZED (${due}), first AS MATERIALIZED (${first})
    UPDATE transactions SET due_at_ms = ?1 + ${AGAIN}
    WHERE id IN (SELECT id FROM due WHERE vault_id IN (SELECT vault_id FROM first)) RETURNING vault_id`;
  const { results } = await db
    .prepare(claim)
    .bind(query.nowMs, query.dueBeforeMs, query.limit)
    .all<{ vault_id: number }>();
  return [...new Set(results.map((row) => row.vault_id))];
}
