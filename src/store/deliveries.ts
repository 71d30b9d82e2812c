import { and, eq, getTableName, inArray } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { HintLane, LaneCharge } from '#domain/activity/hint-budget.ts';
import { chargeOf, MAX_HINTS, MAX_OPEN_PARTS, partsOf } from '#domain/activity/hint-budget.ts';
import { inBatches } from '#store/batched-query.ts';
import { jsonTexts } from '#store/json-rows.ts';
import { REOPENED_AT_ONCE } from '#store/retried-rows.ts';
import { deliveries, hintBudgets, transactions, wallets } from '#store/schema.ts';

export type StoredDelivery = typeof deliveries.$inferSelect;

/** Charges a lane. The parameters: endpoint, lane, now and the cost. */
const CHARGE = `INSERT INTO ${getTableName(hintBudgets)} (endpoint_id, lane, free_at_ms) SELECT ?1, ?2, ?3 + ?4`;
const CHARGE_MORE = `ON CONFLICT (endpoint_id, lane) DO UPDATE
  SET free_at_ms = max(free_at_ms, ?3) + excluded.free_at_ms - ?3`;

/** An endpoint whose lane for long deliveries is occupied for longer reopens none. */
const MAX_WAIT_FOR_REOPENING_MS = 600_000;

/** Whether a delivery, ?5, is not a repetition. */
const IS_NEW = 'NOT EXISTS (SELECT 1 FROM deliveries WHERE id = ?5)';
/** Whether an endpoint, ?1, has room for the parts, ?6, of a delivery. */
const HAS_ROOM = `(?6 = 0 OR ?6 + coalesce((SELECT sum(parts) FROM deliveries
  WHERE endpoint_id = ?1 AND state = 'open' AND parts > 0), 0) <= ${MAX_OPEN_PARTS})`;

export type Insertion =
  | { readonly state: 'open'; readonly dueAtMs: number }
  /** The delivery was processed before. */
  | { readonly state: 'ended' }
  /** Too many parts of the endpoint are open. Nothing is stored. */
  | { readonly state: 'refused' };

/**
 * Stores a delivery with the time of its first try, which the budget of its endpoint decides. A
 * repeated delivery changes neither its row nor the budget.
 *
 * @param delivery.hints the number of hints in the body
 */
export async function insertDelivery(
  db: D1Database,
  delivery: Pick<StoredDelivery, 'id' | 'provider' | 'endpointId' | 'body' | 'receivedAtMs'> & {
    readonly hints: number;
  },
): Promise<Insertion> {
  const { id, provider, endpointId, body, receivedAtMs, hints } = delivery;
  const { lane, costMs, burstMs } = chargeOf('fresh', Math.min(hints, MAX_HINTS));
  const own = [endpointId, lane, receivedAtMs, costMs, id, partsOf(hints)] as const;
  const slot = `(SELECT free_at_ms FROM hint_budgets WHERE endpoint_id = ?1 AND lane = ?2) - ?4 - ?9`;
  // A monitor waits for the answer, so this is one round trip to the database. It is one
  // transaction: parallel deliveries cannot exceed the maximum together.
  const [, , kept] = await db.batch<{ state: string; dueAtMs: number }>([
    db.prepare(`${CHARGE} WHERE ${IS_NEW} AND ${HAS_ROOM} ${CHARGE_MORE}`).bind(...own),
    db
      .prepare(
        `INSERT INTO deliveries (endpoint_id, id, parts, provider, body, received_at_ms, state, tries, due_at_ms)
        SELECT ?1, ?5, ?6, ?7, ?8, ?3, 'open', 0, max(?3, coalesce(${slot}, 0)) WHERE ${HAS_ROOM}
        ON CONFLICT DO NOTHING`,
      )
      .bind(...own, provider, body, burstMs),
    db.prepare('SELECT state, due_at_ms AS dueAtMs FROM deliveries WHERE id = ?').bind(id),
  ]);
  const [row] = kept?.results ?? [];
  if (row === undefined) return { state: 'refused' };
  return row.state === 'open' ? { state: 'open', dueAtMs: row.dueAtMs } : { state: 'ended' };
}

/**
 * Replaces a long delivery by its parts, all at once or not at all: each is a delivery with its own
 * tries. The first part is due now, because the delivery has paid for it. The times of the others
 * follow from the budget for long deliveries. Returns the parts, or nothing when the delivery was
 * split before.
 *
 * @param unread as for `updateDelivery`
 */
export async function splitDelivery(
  db: D1Database,
  { id, tries }: Pick<StoredDelivery, 'id' | 'tries'>,
  { groups, nowMs, unread }: { readonly groups: readonly (readonly object[])[]; readonly nowMs: number } & Unread,
): Promise<{ readonly parts: readonly DueDelivery[]; readonly isCounted: boolean }> {
  const [first = [], ...others] = groups;
  const { lane, burstMs } = chargeOf('bulk', 0);
  let costMs = 0;
  const rows = [{ id: `${id}.0`, body: JSON.stringify(first), afterMs: -1 }];
  for (const [i, some] of others.entries()) {
    rows.push({ id: `${id}.${(i + 1) * MAX_HINTS}`, body: JSON.stringify(some), afterMs: costMs });
    costMs += chargeOf(lane, some.length).costMs;
  }
  const free = `SELECT free_at_ms FROM hint_budgets WHERE endpoint_id = whole.endpoint_id AND lane = ?2`;
  const slot = `max(?3, max(?3, coalesce((${free}), 0)) + (value ->> '$.afterMs') - ?4)`;
  const insert = db.prepare(
    `INSERT INTO deliveries (id, provider, endpoint_id, body, received_at_ms, state, tries, due_at_ms, parts)
    SELECT value ->> '$.id', 'part', whole.endpoint_id, value ->> '$.body', ?3, 'open', 0,
      iif(value ->> '$.afterMs' < 0, ?3, ${slot}), 1
    FROM deliveries AS whole, json_each(?5) WHERE whole.id = ?1 AND whole.state = 'open'
    ON CONFLICT DO NOTHING RETURNING id, due_at_ms AS dueAtMs`,
  );
  const inserts = jsonTexts(rows).map((text) => insert.bind(id, lane, nowMs, burstMs, text));
  const outcome = JSON.stringify({ parts: groups.length });
  const results = await db.batch<DueDelivery>([
    ...(unread === undefined ? [] : [countAtEndpoint(db, id, unread)]),
    ...inserts,
    chargeForRetry(db, id, { lane, costMs, nowMs }),
    db
      .prepare(
        "UPDATE deliveries SET state = 'done', tries = ?, due_at_ms = ?, outcome = ?, body = '' WHERE id = ? AND state = 'open'",
      )
      .bind(tries + 1, nowMs, outcome, id),
  ]);
  const counted = unread === undefined ? undefined : results[0];
  return {
    parts: results.flatMap((result) => result.results).filter((row) => row.id !== undefined),
    isCounted: isCountedAs(unread, counted),
  };
}

/**
 * Reopens failed deliveries, the newest first, for another day of tries. Every member of any vault
 * can request this, so it uses the budget for long deliveries only: each is charged as a part of
 * `MAX_HINTS` hints, and an endpoint that has used up this budget reopens none. Returns them with
 * the times of their first tries.
 */
export async function reopenDeliveries(db: D1Database, nowMs: number): Promise<readonly DueDelivery[]> {
  const { lane, costMs } = chargeOf('bulk', MAX_HINTS);
  const { results: failed } = await db
    .prepare(
      `SELECT id, endpoint_id AS endpointId FROM deliveries WHERE state = 'failed' AND endpoint_id NOT IN
        (SELECT endpoint_id FROM hint_budgets WHERE lane = ? AND free_at_ms > ?)
      ORDER BY received_at_ms DESC, id LIMIT ?`,
    )
    .bind(lane, nowMs + MAX_WAIT_FOR_REOPENING_MS, REOPENED_AT_ONCE)
    .all<{ id: string; endpointId: string }>();
  const costs = new Map<string, number>();
  const rows = failed.map(({ id, endpointId }) => {
    const afterMs = costs.get(endpointId) ?? 0;
    costs.set(endpointId, afterMs + costMs);
    return { id, afterMs };
  });
  const free = 'SELECT free_at_ms FROM hint_budgets WHERE endpoint_id = deliveries.endpoint_id AND lane = ?1';
  // Two requests at the same time charge the budget twice. They reopen each delivery once.
  const [reopened] = await db.batch<DueDelivery>([
    db
      .prepare(
        `UPDATE deliveries SET state = 'open', tries = 0, parts = 1, received_at_ms = ?2,
          due_at_ms = max(?2, coalesce((${free}), 0)) + (value ->> '$.afterMs')
        FROM json_each(?3) WHERE deliveries.id = value ->> '$.id' AND state = 'failed'
        RETURNING deliveries.id, due_at_ms AS dueAtMs`,
      )
      .bind(lane, nowMs, JSON.stringify(rows)),
    db
      .prepare(
        `INSERT INTO hint_budgets (endpoint_id, lane, free_at_ms)
        SELECT value ->> '$.endpointId', ?2, ?3 + (value ->> '$.costMs') FROM json_each(?1) WHERE true ${CHARGE_MORE}`,
      )
      .bind(JSON.stringify([...costs].map(([endpointId, cost]) => ({ endpointId, costMs: cost }))), lane, nowMs),
  ]);
  return reopened?.results ?? [];
}

export interface DueDelivery {
  readonly id: string;
  readonly dueAtMs: number;
}

/** Returns the delay of the message of a row, so that it arrives when the row is due. */
export function delaySecondsTo(dueAtMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((dueAtMs - nowMs) / 1000));
}

/** Returns the statement that charges the endpoint of a delivery that is open. */
function chargeForRetry(
  db: D1Database,
  id: string,
  { lane, costMs, nowMs }: { readonly lane: HintLane; readonly costMs: number; readonly nowMs: number },
): D1PreparedStatement {
  const charge = CHARGE.replace('?1', 'endpoint_id');
  return db
    .prepare(`${charge} FROM deliveries WHERE id = ?1 AND state = 'open' ${CHARGE_MORE}`)
    .bind(id, lane, nowMs, costMs);
}

/** Returns the delivery, or null when it is processed or does not exist. */
export async function openDelivery(db: D1Database, id: string): Promise<StoredDelivery | null> {
  const isOpen = and(eq(deliveries.id, id), eq(deliveries.state, 'open'));
  const [row] = await drizzle(db).select().from(deliveries).where(isOpen);
  return row ?? null;
}

/** What an endpoint counts when one of its deliveries is processed for the first time. */
interface Unread {
  /**
   * The name of what was not understood, or null; undefined when the endpoint has already counted
   * the delivery.
   */
  readonly unread: string | null | undefined;
}

interface Retry {
  readonly charge: LaneCharge;
  readonly nowMs: number;
  /** The hints of a part that are still to be read; null leaves the body as it is. */
  readonly left: readonly object[] | null;
}

/**
 * Stores the outcome of a delivery, or the time of its next try, which is later when its endpoint
 * has used up its budget. A delivery that was processed meanwhile does not change. A completed one
 * keeps no body: nothing reads it again, and a body can have a megabyte. Returns the time of the
 * next try, and whether its endpoint has counted it as unread now.
 */
export async function updateDelivery(
  db: D1Database,
  id: string,
  {
    unread,
    retry,
    ...change
  }: Pick<StoredDelivery, 'state' | 'tries' | 'dueAtMs' | 'outcome'> & Unread & { readonly retry: Retry | null },
): Promise<{ readonly dueAtMs: number; readonly isCounted: boolean }> {
  const { state, tries, dueAtMs, outcome } = change;
  const left = retry?.left ?? null;
  const body = state === 'done' ? '' : left === null ? null : JSON.stringify(left);
  const { lane, costMs, burstMs } = retry?.charge ?? { lane: null, costMs: 0, burstMs: 0 };
  const slot = `(SELECT free_at_ms FROM hint_budgets AS budget
    WHERE budget.endpoint_id = deliveries.endpoint_id AND lane = ?6) - ?7`;
  const update = db
    .prepare(
      `UPDATE deliveries SET state = ?2, tries = ?3, outcome = ?4, body = coalesce(?5, body),
      due_at_ms = max(?8, coalesce(${slot}, 0)) WHERE id = ?1 AND state = 'open' RETURNING due_at_ms AS dueAtMs`,
    )
    .bind(id, state, tries, outcome, body, lane, costMs + burstMs, dueAtMs);
  // One transaction, so that a delivery counts once however often its message arrives.
  const results = await db.batch<{ dueAtMs?: number }>([
    ...(unread === undefined ? [] : [countAtEndpoint(db, id, unread)]),
    ...(retry === null ? [] : [chargeForRetry(db, id, { ...retry.charge, nowMs: retry.nowMs })]),
    update,
  ]);
  const counted = unread === undefined ? undefined : results[0];
  return { dueAtMs: results.at(-1)?.results[0]?.dueAtMs ?? dueAtMs, isCounted: isCountedAs(unread, counted) };
}

/** Reports whether an endpoint has counted a delivery as unread. */
function isCountedAs(unread: string | null | undefined, counted: D1Result | undefined): boolean {
  return unread !== null && counted?.meta.changes === 1;
}

/** The last time of a delivery is this exact, so that not each delivery writes to its endpoint. */
const ENDPOINT_INTERVAL_MS = 60_000;

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
