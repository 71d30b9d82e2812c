import { and, asc, eq, isNull, lt, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { Alert, AlertCode } from '#domain/operations/alert.ts';
import { ALERT_CODES, LOGGED_ALERT_CODES } from '#domain/operations/alert.ts';
import type { AlertState, RaisedAlert } from '#domain/operations/raised-alert.ts';
import { ALERT_STATES, alertIdOf, quietMsOf } from '#domain/operations/raised-alert.ts';
import { insertRows, jsonTexts } from '#store/json-rows.ts';
import { alerts } from '#store/operations/schema.ts';

/** The alerts in D1: the receiver of ALERT_WEBHOOK gets each one once, and once that it is over. */

const KNOWN_CODES: readonly AlertCode[] = [...ALERT_CODES, ...LOGGED_ALERT_CODES];

/**
 * A resolved alert that is found again begins anew. What happened after an acknowledgement ends it.
 * An alert that is found many times a minute is written once.
 */
const FIND = `${insertRows(alerts)} ON CONFLICT (id) DO UPDATE SET
    detail = excluded.detail, seen_at_ms = excluded.seen_at_ms, newest_at_ms = excluded.newest_at_ms,
    opened_at_ms = CASE WHEN resolved_at_ms IS NULL THEN opened_at_ms ELSE excluded.opened_at_ms END,
    acknowledged_at_ms = CASE
      WHEN resolved_at_ms IS NULL AND acknowledged_at_ms >= coalesce(excluded.newest_at_ms, 0)
      THEN acknowledged_at_ms END,
    resolved_at_ms = NULL
  WHERE resolved_at_ms IS NOT NULL OR seen_at_ms < excluded.seen_at_ms - 60000`;

function findingsOf(db: D1Database, found: readonly Alert[], nowMs: number): readonly D1PreparedStatement[] {
  const rows = found.map((alert) => ({ ...alert, id: alertIdOf(alert), openedAtMs: nowMs, seenAtMs: nowMs }));
  return jsonTexts(rows).map((text) => db.prepare(FIND).bind(text));
}

/**
 * Stores the alerts of some codes, and resolves every other one of these codes: what is not found
 * any more is over.
 */
export async function settleAlerts(
  db: D1Database,
  { codes, found }: { readonly codes: readonly AlertCode[]; readonly found: readonly Alert[] },
  nowMs: number,
): Promise<void> {
  const others = `UPDATE alerts SET resolved_at_ms = ? WHERE resolved_at_ms IS NULL
    AND code IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT value FROM json_each(?))`;
  await db.batch([
    ...findingsOf(db, found, nowMs),
    db.prepare(others).bind(nowMs, JSON.stringify(codes), JSON.stringify(found.map(alertIdOf))),
  ]);
}

/** Stores the alert of an event. */
export async function addAlert(db: D1Database, alert: Alert, nowMs: number): Promise<void> {
  await db.batch([...findingsOf(db, [alert], nowMs)]);
}

/** Resolves the alerts of events that have not happened again for their time. */
export async function resolveQuietAlerts(db: D1Database, nowMs: number): Promise<void> {
  const quiet = LOGGED_ALERT_CODES.map((code) => ({ code, beforeMs: nowMs - quietMsOf(code) }));
  await db
    .prepare(
      `UPDATE alerts SET resolved_at_ms = ?1 WHERE resolved_at_ms IS NULL AND EXISTS (SELECT 1 FROM json_each(?2)
        WHERE value ->> '$.code' = code AND seen_at_ms < value ->> '$.beforeMs')`,
    )
    .bind(nowMs, JSON.stringify(quiet))
    .run();
}

/** Returns the open alerts, those first that are open for longest. */
export async function readOpenAlerts(db: D1Database): Promise<readonly RaisedAlert[]> {
  const rows = await drizzle(db)
    .select()
    .from(alerts)
    .where(isNull(alerts.resolvedAtMs))
    .orderBy(asc(alerts.openedAtMs), asc(alerts.id));
  return rows.flatMap(raisedAlertIn);
}

/** The state of a row, as `alertStateOf` (domain/operations/raised-alert.ts) computes it. */
const STATE = sql`CASE WHEN ${alerts.resolvedAtMs} IS NOT NULL THEN 'resolved'
  WHEN ${alerts.acknowledgedAtMs} IS NOT NULL THEN 'acknowledged' ELSE 'open' END`;

/**
 * Returns the alerts whose state the receiver does not have. One that was over before its first
 * announcement has none.
 */
export async function unannouncedAlerts(db: D1Database, limit: number): Promise<readonly RaisedAlert[]> {
  const rows = await drizzle(db)
    .select()
    .from(alerts)
    .where(
      and(
        sql`${alerts.announced} IS NOT ${STATE}`,
        sql`(${alerts.announced} IS NOT NULL OR ${alerts.resolvedAtMs} IS NULL)`,
      ),
    )
    .orderBy(asc(alerts.openedAtMs), asc(alerts.id))
    .limit(limit);
  return rows.flatMap(raisedAlertIn);
}

/** Records that the receiver has this state of an alert. */
export async function markAnnounced(db: D1Database, id: string, state: AlertState): Promise<void> {
  await drizzle(db).update(alerts).set({ announced: state }).where(eq(alerts.id, id));
}

/** Records that an operator takes an alert over. Returns it, or null when it is not open. */
export async function acknowledgeAlert(db: D1Database, id: string, nowMs: number): Promise<RaisedAlert | null> {
  const [row] = await drizzle(db)
    .update(alerts)
    .set({ acknowledgedAtMs: sql`coalesce(${alerts.acknowledgedAtMs}, ${nowMs})` })
    .where(and(eq(alerts.id, id), isNull(alerts.resolvedAtMs)))
    .returning();
  return row === undefined ? null : (raisedAlertIn(row)[0] ?? null);
}

/** Deletes alerts that were resolved before a time. */
export async function pruneAlerts(db: D1Database, beforeMs: number): Promise<void> {
  await drizzle(db).delete(alerts).where(lt(alerts.resolvedAtMs, beforeMs));
}

/** Returns the alert of a row; none for a code of a later release. */
function raisedAlertIn(row: typeof alerts.$inferSelect): readonly RaisedAlert[] {
  const code = KNOWN_CODES.find((known) => known === row.code);
  if (code === undefined) return [];
  const announced = ALERT_STATES.find((known) => known === row.announced) ?? null;
  const { subject, ...rest } = row;
  return [{ ...rest, code, announced, ...(subject === null ? {} : { subject }) }];
}
