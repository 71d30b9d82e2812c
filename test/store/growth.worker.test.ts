import { env } from 'cloudflare:workers';
import { beforeAll, expect, test } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { historyLines } from '#store/audit.ts';
import { claimDue, pruneEnded } from '#store/retried-rows.ts';
import { claimVaultsToWake, membersOf, vaultsOf } from '#store/vaults.ts';

/**
 * The cost of reads and jobs, in rows that D1 reads, with a hundred times as many rows of the
 * others. `transaction-list.worker.test.ts` has the lists of transactions.
 */

const { DB } = env as unknown as CoordinatorEnv;
const [FEW, MANY] = [20, 2_000];
/** The vaults of the one person. */
const OWN = 10;

const QUERIES: Readonly<Record<string, (db: D1Database) => Promise<unknown>>> = {
  'a page of the history of a vault': (db) =>
    historyLines(db, { vaultId: 1, transactionId: null, after: 5, limit: 10 }),
  'the history of a transaction': (db) => historyLines(db, { vaultId: 1, transactionId: 'tx-7', after: 0, limit: 10 }),
  'the vaults of a person': (db) => vaultsOf(db, 'person', { before: null, among: null, limit: OWN }),
  'the co-members of a person': (db) =>
    membersOf(
      db,
      Array.from({ length: OWN }, (_, i) => i + 1),
    ),
  'the vaults to wake': (db) => claimVaultsToWake(db, { wokenBeforeMs: 1, nowMs: 5, limit: 10 }),
  'the deliveries to send again': (db) => claimDue(db, 'deliveries', { dueBeforeMs: 10, nowMs: 10_000, limit: 10 }),
  'the scans to send again': (db) => claimDue(db, 'scans', { dueBeforeMs: 10, nowMs: 10_000, limit: 10 }),
  'the deletion of deliveries': (db) => pruneEnded(db, 'deliveries', { doneBeforeMs: 5, failedBeforeMs: 5, limit: 10 }),
};

const read = new Map<string, number[]>();

beforeAll(async () => {
  for (const count of [FEW, MANY]) {
    await fill(count);
    for (const [name, query] of Object.entries(QUERIES)) {
      read.set(name, [...(read.get(name) ?? []), await rowsReadBy(query)]);
    }
  }
});

/** Brings each table to this many rows. */
async function fill(count: number): Promise<void> {
  const n = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const due = "CASE i % 2 WHEN 0 THEN 'open' ELSE 'done' END, 0, i";
  await DB.batch(
    [
      'vaults (id, name, reference, created_at_ms) SELECT i, i, i, 0 FROM n',
      "users (id, name, email, created_at_ms) SELECT 'user-' || i, i, i, 0 FROM n",
      "wallets (chain, address, vault_id, key_id) SELECT 'anvil', i, i, 'key' FROM n",
      "members (vault_id, user_id) SELECT i, 'user-' || i FROM n",
      `members (vault_id, user_id) SELECT i, 'person' FROM n WHERE i <= ${OWN}`,
      "audit (vault_id, seq, transaction_id, at_ms, entry, hash) SELECT 1, i, 'tx-' || i, 0, '{}', '' FROM n",
      `deliveries (id, provider, endpoint_id, body, received_at_ms, state, tries, due_at_ms) SELECT i, '', '', '', i, ${due} FROM n`,
      `scans (id, vault_id, chain, address, started_at_ms, state, tries, due_at_ms) SELECT i, 1, '', '', i, ${due} FROM n`,
    ].map((rows) => {
      const [head = '', ...select] = rows.split(' SELECT ');
      const where = rows.includes(' WHERE ') ? '' : ' WHERE true';
      return DB.prepare(`${n} INSERT INTO ${head} SELECT ${select.join(' SELECT ')}${where} ON CONFLICT DO NOTHING`);
    }),
  );
}

/** Returns the number of rows that D1 reads for a query. */
async function rowsReadBy(query: (db: D1Database) => Promise<unknown>): Promise<number> {
  let rowsRead = 0;
  const counted = async (statement: D1PreparedStatement): Promise<D1Result<Record<string, unknown>>> => {
    const result = await statement.all<Record<string, unknown>>();
    rowsRead += result.meta.rows_read;
    return result;
  };
  const counting = (statement: D1PreparedStatement): object => ({
    bind: (...values: unknown[]) => counting(statement.bind(...values)),
    all: () => counted(statement),
    run: () => counted(statement),
    // The result of `raw` has no number of rows.
    raw: async () => (await counted(statement)).results.map((row) => Object.values(row)),
  });
  const prepare = (text: string) => counting(DB.prepare(text));
  await query({ prepare } as unknown as D1Database);
  return rowsRead;
}

test.each(Object.keys(QUERIES))('%s: as few rows are read in a large database as in a small one', (name) => {
  const [few = Number.NaN, many = Number.NaN] = read.get(name) ?? [];
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(1.5 * few);
});
