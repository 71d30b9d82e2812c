import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** The part of the D1 schema that operators alone read. */

/** The messages that the queues have given up on. */
export const deadLetters = sqliteTable(
  'dead_letters',
  {
    id: text('id').primaryKey(),
    queue: text('queue').notNull(),
    body: text('body').notNull(),
    atMs: integer('at_ms').notNull(),
  },
  (table) => [index('dead_letters_age').on(table.atMs)],
);

/** Which keys have recovery packages of their present shares (operations/key-exports.ts). */
export const keyExports = sqliteTable(
  'key_exports',
  {
    keyId: text('key_id').primaryKey(),
    vaultId: integer('vault_id').notNull(),
    /** Since when no complete export has the present shares; null when one has. */
    outdatedSinceMs: integer('outdated_since_ms'),
    /** The last complete export; null without one. */
    exportedAtMs: integer('exported_at_ms'),
    /** JSON: the co-signers of that export, and the recovery keys of their packages. */
    recipients: text('recipients'),
  },
  (table) => [
    index('key_exports_outdated')
      .on(table.outdatedSinceMs)
      .where(sql`outdated_since_ms is not null`),
  ],
);

/**
 * What one RPC node alone states of a transaction. Nothing of it is in a record, a list, a balance
 * or a notification; operators compare the RPC nodes.
 */
export const claims = sqliteTable(
  'claims',
  {
    chain: text('chain').notNull(),
    hash: text('hash').notNull(),
    /** The host of the RPC node. */
    host: text('host').notNull(),
    firstAtMs: integer('first_at_ms').notNull(),
    lastAtMs: integer('last_at_ms').notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.hash, table.host] }), index('claims_age').on(table.lastAtMs)],
);

/** The RPC nodes of RPC_URLS, as the last probe found them (domain/operations/rpc-node.ts). */
export const rpcNodes = sqliteTable(
  'rpc_nodes',
  {
    chain: text('chain').notNull(),
    position: integer('position').notNull(),
    host: text('host').notNull(),
    checkedAtMs: integer('checked_at_ms').notNull(),
    head: text('head'),
    lagBlocks: text('lag_blocks'),
    otherChain: text('other_chain'),
    fault: text('fault'),
    error: text('error'),
    traces: integer('traces', { mode: 'boolean' }),
    hasHistory: integer('has_history', { mode: 'boolean' }),
  },
  (table) => [primaryKey({ columns: [table.chain, table.position] })],
);

/** The chains on which a vault had money when the sweep last woke it. */
export const fundedChains = sqliteTable('funded_chains', {
  chain: text('chain').primaryKey(),
  seenAtMs: integer('seen_at_ms').notNull(),
});

/** The alerts that are open, and those that were resolved lately (operations/alerts.ts). */
export const alerts = sqliteTable(
  'alerts',
  {
    /** The code, and the subject where there is one (domain/operations/raised-alert.ts). */
    id: text('id').primaryKey(),
    code: text('code').notNull(),
    subject: text('subject'),
    detail: text('detail').notNull(),
    openedAtMs: integer('opened_at_ms').notNull(),
    seenAtMs: integer('seen_at_ms').notNull(),
    /** When the newest event happened, for an alert that counts events. */
    newestAtMs: integer('newest_at_ms'),
    resolvedAtMs: integer('resolved_at_ms'),
    acknowledgedAtMs: integer('acknowledged_at_ms'),
    /** The state that the receiver of ALERT_WEBHOOK has; null when it has none. */
    announced: text('announced'),
  },
  (table) => [index('alerts_resolved').on(table.resolvedAtMs)],
);

/** The test messages of each queue (operations/queue-probes.ts). */
export const queueProbes = sqliteTable('queue_probes', {
  queue: text('queue').primaryKey(),
  /** When the oldest message that has not come back was sent; null when all have. */
  openSinceMs: integer('open_since_ms'),
  /** When the newest message that came back was received; null before the first. */
  returnedAtMs: integer('returned_at_ms'),
});

/** What each co-signer found when it last opened its share of a key (operations/share-tests.ts). */
export const shareTests = sqliteTable(
  'share_tests',
  {
    keyId: text('key_id').notNull(),
    node: integer('node').notNull(),
    testedAtMs: integer('tested_at_ms').notNull(),
    epoch: integer('epoch'),
    madeAtMs: integer('made_at_ms'),
    /** Null for a share that can be used. */
    fault: text('fault'),
  },
  (table) => [
    primaryKey({ columns: [table.keyId, table.node] }),
    index('share_tests_faulty')
      .on(table.testedAtMs)
      .where(sql`fault is not null`),
  ],
);

/** When the last sweep ended: one row. */
export const sweepRuns = sqliteTable('sweep_runs', {
  id: integer('id').primaryKey(),
  endedAtMs: integer('ended_at_ms').notNull(),
});

/** The keys of the deployment that writes D1 (domain/operations/database-owner.ts): one row. */
export const databaseOwner = sqliteTable('database_owner', {
  id: integer('id').primaryKey(),
  /** Fingerprints of the keys, with spaces. */
  fingerprints: text('fingerprints').notNull(),
});
