import { and, asc, count, desc, eq, gt, gte, inArray, isNotNull, max, min, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { ServiceHealth } from '#domain/operations/service-health.ts';
import { EXPORT_DELAY_MS, UNEXPLAINED_REASONS } from '#domain/operations/service-health.ts';
import { outdatedKeys } from '#store/operations/key-exports.ts';
import { claims, deadLetters, sweepRuns } from '#store/operations/schema.ts';
import { deliveries, monitorEndpoints, scans, transactions, vaults } from '#store/schema.ts';

/**
 * Decided and not done. A transaction that waits for members, or only for depth, may stay unchanged
 * for days.
 */
const MOVING = ['SIGNING', 'BROADCAST', 'CONFIRMING'];

/** Longer than the delay between two readings of a claimed transaction. Ours. */
const CLAIMED_STILL_MS = 15 * 60_000;

const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;

/** The number of vault objects whose size is reported. */
const MAX_SIZES = 3;

type Database = ReturnType<typeof drizzle>;

/** The statements about transactions that are not finished. */
function queriesOfTransactions(orm: Database, limit: number) {
  const watched = isNotNull(transactions.dueAtMs);
  const moving = and(watched, inArray(transactions.state, MOVING));
  return [
    orm
      .select({ state: transactions.state, number: count() })
      .from(transactions)
      .where(watched)
      .groupBy(transactions.state),
    orm
      .select({
        id: transactions.id,
        vaultId: transactions.vaultId,
        chain: transactions.chain,
        state: transactions.state,
        stateReason: transactions.stateReason,
        updatedAtMs: transactions.updatedAtMs,
      })
      .from(transactions)
      .where(moving)
      .orderBy(asc(transactions.updatedAtMs))
      .limit(limit),
    orm
      .select({
        stateReason: transactions.stateReason,
        number: count(),
        updatedAtMs: min(transactions.updatedAtMs),
      })
      .from(transactions)
      .where(and(moving, inArray(transactions.stateReason, UNEXPLAINED_REASONS)))
      .groupBy(transactions.stateReason),
  ] as const;
}

/** The statements about deliveries, scans, and jobs that were given up. */
function queriesOfWork(orm: Database) {
  return [
    orm
      .select({ number: count(), dueAtMs: min(deliveries.dueAtMs) })
      .from(deliveries)
      .where(eq(deliveries.state, 'open')),
    orm
      .select({ number: count(), atMs: max(deliveries.receivedAtMs) })
      .from(deliveries)
      .where(eq(deliveries.state, 'failed')),
    orm
      .select({ number: count(), dueAtMs: min(scans.dueAtMs) })
      .from(scans)
      .where(eq(scans.state, 'open')),
    orm
      .select({ number: count(), atMs: max(scans.startedAtMs) })
      .from(scans)
      .where(eq(scans.state, 'failed')),
    orm.select({ number: count(), atMs: max(deadLetters.atMs) }).from(deadLetters),
    orm
      .select({ atMs: min(deliveries.receivedAtMs) })
      .from(deliveries)
      .where(and(eq(deliveries.state, 'open'), eq(deliveries.tries, 0))),
  ] as const;
}

/** The statements about what monitors and RPC nodes claim, and what monitors did not report. */
function queriesOfClaims(orm: Database, { limit, nowMs }: { readonly limit: number; readonly nowMs: number }) {
  return [
    orm
      .select()
      .from(claims)
      .where(gte(claims.lastAtMs, nowMs - CLAIMED_STILL_MS))
      .orderBy(asc(claims.firstAtMs))
      .limit(limit),
    // One row for each endpoint that was ever configured.
    orm.select().from(monitorEndpoints),
    orm
      .select({ endpointId: deliveries.endpointId, openParts: sql<number>`sum(${deliveries.parts})` })
      .from(deliveries)
      .where(and(eq(deliveries.state, 'open'), gt(deliveries.parts, 0)))
      .groupBy(deliveries.endpointId)
      .orderBy(desc(sql`sum(${deliveries.parts})`))
      .limit(limit),
    // The time of a delivery is kept to the minute.
    orm
      .select({ number: sql<number | null>`sum(${scans.added})`, atMs: min(scans.startedAtMs) })
      .from(scans)
      .where(
        and(
          eq(scans.state, 'done'),
          gte(scans.startedAtMs, nowMs - DAY_MS),
          gt(
            scans.startedAtMs,
            sql`(SELECT coalesce(max(last_delivery_at_ms), 0) FROM monitor_endpoints) + ${MINUTE_MS}`,
          ),
          gt(scans.added, 0),
        ),
      ),
  ] as const;
}

/** The statements about vaults. */
function queriesOfVaults(orm: Database) {
  return [
    // A new vault was never swept, and need not have been.
    orm
      .select({ number: count(), atMs: sql<number | null>`min(max(${vaults.nudgedAtMs}, ${vaults.createdAtMs}))` })
      .from(vaults),
    orm
      .select({ id: vaults.id, bytes: vaults.sizeBytes })
      .from(vaults)
      .where(isNotNull(vaults.sizeBytes))
      .orderBy(desc(vaults.sizeBytes))
      .limit(MAX_SIZES),
    orm.select().from(sweepRuns),
  ] as const;
}

/**
 * Returns the state of all pending work by the read model, which may lag behind by the changes that
 * a vault is about to write.
 *
 * @param limit the number of transactions and of claims that are named
 * @param hasMonitors whether any endpoint of a monitor is configured
 */
export async function readHealth(
  db: D1Database,
  { limit, nowMs, hasMonitors }: { readonly limit: number; readonly nowMs: number; readonly hasMonitors: boolean },
): Promise<ServiceHealth> {
  const orm = drizzle(db);
  const results = await orm.batch([
    ...queriesOfTransactions(orm, limit),
    ...queriesOfWork(orm),
    ...queriesOfClaims(orm, { limit, nowMs }),
    ...queriesOfVaults(orm),
    ...outdatedKeys(orm, { beforeMs: nowMs - EXPORT_DELAY_MS, limit }),
  ]);
  const { meta } = await db.prepare('SELECT 1').run();
  const [
    states,
    quietest,
    unexplained,
    [open],
    [failed],
    [openScans],
    [failedScans],
    [dead],
    [untried],
    unproven,
    monitors,
    endpoints,
    [missed],
    [swept],
    largest,
    [sweepRun],
    [outdated],
    longest,
  ] = results;
  return {
    outstanding: Object.fromEntries(states.map(({ state, number }) => [state, number])),
    quietest,
    unexplained,
    deliveries: backlog(open, failed),
    scans: backlog(openScans, failedScans),
    hints: { endpoints, oldestUntriedAtMs: untried?.atMs ?? null },
    claims: unproven,
    monitors,
    unreported: hasMonitors
      ? { number: missed?.number ?? 0, oldestAtMs: missed?.atMs ?? null }
      : { number: 0, oldestAtMs: null },
    deadLetters: dead?.number ?? 0,
    newestDeadLetterAtMs: dead?.atMs ?? null,
    vaults: swept?.number ?? 0,
    lastSweepAtMs: sweepRun?.endedAtMs ?? null,
    longestUnsweptAtMs: swept?.atMs ?? null,
    stores: [
      { store: 'D1', bytes: meta.size_after },
      ...largest.map(({ id, bytes }) => ({ store: `vault ${id}`, bytes: bytes ?? 0 })),
    ],
    outdatedKeys: { number: outdated?.number ?? 0, oldestSinceMs: outdated?.sinceMs ?? null, longest },
  };
}

function backlog(
  open: { readonly number: number; readonly dueAtMs: number | null } | undefined,
  failed: { readonly number: number; readonly atMs: number | null } | undefined,
) {
  return {
    open: open?.number ?? 0,
    oldestDueAtMs: open?.dueAtMs ?? null,
    failed: failed?.number ?? 0,
    newestFailureAtMs: failed?.atMs ?? null,
  };
}
