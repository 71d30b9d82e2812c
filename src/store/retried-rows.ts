import { DAY_MS } from '#domain/policy/rules.ts';

/**
 * The rows of work that is tried again until it is done: a lost message is sent again, failed work
 * can be reopened, and completed work is deleted later. Deliveries and scans are such rows.
 */
type RetriedTable = 'deliveries' | 'scans';

/**
 * How long processed deliveries and scans are stored, for operators who need to know what they came
 * to, and claims and deleted tokens.
 */
export const ENDED_RETENTION_MS = 30 * DAY_MS;

/** The maximum number of rows that one request reopens. The next request continues. */
export const REOPENED_AT_ONCE = 100;

/** The column with the time since when the tries of a row are counted. */
const SINCE: Readonly<Record<RetriedTable, string>> = { deliveries: 'received_at_ms', scans: 'started_at_ms' };

/**
 * Returns open rows that are due, the oldest first: their message was lost, or they wait for their
 * chain. The caller sends their messages, and the next caller gets others.
 */
export function claimDue(
  db: D1Database,
  table: RetriedTable,
  { dueBeforeMs, nowMs, limit }: { readonly dueBeforeMs: number; readonly nowMs: number; readonly limit: number },
): Promise<readonly string[]> {
  const due = `SELECT id FROM ${table} WHERE state = 'open' AND due_at_ms <= ? ORDER BY due_at_ms LIMIT ?`;
  const claim = `UPDATE ${table} SET due_at_ms = ? WHERE state = 'open' AND id IN (${due}) RETURNING id`;
  return idsOf(db.prepare(claim).bind(nowMs, dueBeforeMs, limit));
}

/**
 * Deletes completed rows and failed rows from before a time, up to a limit of each. The results of
 * completed ones are in the vaults; failed ones stayed long enough to be reopened. Returns the
 * larger of the two numbers.
 */
export async function pruneEnded(
  db: D1Database,
  table: RetriedTable,
  {
    doneBeforeMs,
    failedBeforeMs,
    limit,
  }: { readonly doneBeforeMs: number; readonly failedBeforeMs: number; readonly limit: number },
): Promise<number> {
  const prune = (state: 'done' | 'failed') => {
    const old = `SELECT id FROM ${table} WHERE state = '${state}' AND ${SINCE[table]} < ? LIMIT ?`;
    return db.prepare(`DELETE FROM ${table} WHERE id IN (${old})`);
  };
  const done = await prune('done').bind(doneBeforeMs, limit).run();
  const failed = await prune('failed').bind(failedBeforeMs, limit).run();
  return Math.max(done.meta.changes, failed.meta.changes);
}

async function idsOf(statement: D1PreparedStatement): Promise<readonly string[]> {
  const { results } = await statement.all<{ id: string }>();
  return results.map(({ id }) => id);
}
