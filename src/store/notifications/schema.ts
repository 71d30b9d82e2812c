import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** The tables of notifications, see `store/schema.ts`. */

/**
 * Browsers in which users receive notifications (Web Push). The keys are the browser's: they
 * encrypt messages to it and decrypt nothing.
 */
export const pushSubscriptions = sqliteTable(
  'push_subscriptions',
  {
    /** Hex SHA-256 of the endpoint. */
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    endpoint: text('endpoint').notNull(),
    p256dh: text('p256dh').notNull(),
    auth: text('auth').notNull(),
    createdAtMs: integer('created_at_ms').notNull(),
  },
  (table) => [index('push_subscriptions_user').on(table.userId)],
);

/**
 * The inbox of each user: events that decide who controls a vault or an account. A later event of
 * one subject replaces the earlier one.
 */
export const inbox = sqliteTable(
  'inbox',
  {
    userId: text('user_id').notNull(),
    /** The subject. */
    id: text('id').notNull(),
    /** Grows with each event of the subject. */
    version: integer('version').notNull(),
    atMs: integer('at_ms').notNull(),
    kind: text('kind').notNull(),
    title: text('title').notNull(),
    body: text('body').notNull(),
    vaultId: integer('vault_id'),
    readAtMs: integer('read_at_ms'),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.id] }),
    index('inbox_newest').on(table.userId, table.atMs, table.id),
    index('inbox_age').on(table.atMs),
  ],
);

/** When a user was last sent an e-mail of a kind. */
export const mails = sqliteTable(
  'mails',
  { userId: text('user_id').notNull(), kind: text('kind').notNull(), atMs: integer('at_ms').notNull() },
  (table) => [primaryKey({ columns: [table.userId, table.kind] })],
);
