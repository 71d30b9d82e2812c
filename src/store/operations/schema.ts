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
