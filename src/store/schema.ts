import { sql } from 'drizzle-orm';
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

/**
 * D1: the truth for people and the directory, and a read model of the rest, rebuildable from the objects. Nothing is ever
 * authorised from here. Times are milliseconds since 1970 in columns that end in `_at_ms`.
 */
export const users = sqliteTable(
  'users',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    /** Lower case. */
    email: text('email').notNull(),
    createdAtMs: integer('created_at_ms').notNull(),
  },
  (table) => [uniqueIndex('users_email').on(table.email)],
);

/** Who a person is at an issuer of OpenID Connect: one there, and one person behind each. */
export const identities = sqliteTable(
  'identities',
  {
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    userId: text('user_id').notNull(),
    createdAtMs: integer('created_at_ms').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.issuer, table.subject] }),
    uniqueIndex('identities_user').on(table.userId, table.issuer),
  ],
);

/** The logins of the last day, so that all of a person's can be ended. What they are good for their objects say. */
export const sessions = sqliteTable(
  'sessions',
  {
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    createdAtMs: integer('created_at_ms').notNull(),
  },
  (table) => [index('sessions_user').on(table.userId), index('sessions_age').on(table.createdAtMs)],
);

export const vaults = sqliteTable(
  'vaults',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    name: text('name').notNull(),
    /** The operator's own name for it: creating it twice gives one vault. */
    reference: text('reference').notNull(),
    createdAtMs: integer('created_at_ms').notNull(),
    /** When the sweep last woke it. */
    nudgedAtMs: integer('nudged_at_ms').notNull().default(0),
    /** The origins of the passkeys of its policy in force, as a JSON list of texts. Null: not known yet. */
    passkeyOrigins: text('passkey_origins'),
  },
  (table) => [uniqueIndex('vaults_reference').on(table.reference), index('vaults_nudged').on(table.nudgedAtMs)],
);

/** Who belongs to which vault: where a person's vaults are looked up. The vault itself says whether it is so. */
export const members = sqliteTable(
  'members',
  { vaultId: integer('vault_id').notNull(), userId: text('user_id').notNull() },
  (table) => [primaryKey({ columns: [table.vaultId, table.userId] }), index('members_user').on(table.userId)],
);

/** From an address to its vault: how the activity of a chain finds its owner. */
export const wallets = sqliteTable(
  'wallets',
  {
    chain: text('chain').notNull(),
    address: text('address').notNull(),
    vaultId: integer('vault_id').notNull(),
    keyId: text('key_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.address] }), index('wallets_vault').on(table.vaultId)],
);

/** Which tokens a person has. The token's object is the truth for everything else, and no value or hash of one is here. */
export const accessTokens = sqliteTable(
  'access_tokens',
  {
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    createdAtMs: integer('created_at_ms').notNull(),
    deletedAtMs: integer('deleted_at_ms'),
  },
  (table) => [index('access_tokens_user').on(table.userId)],
);

export const transactions = sqliteTable(
  'transactions',
  {
    id: text('id').primaryKey(),
    vaultId: integer('vault_id').notNull(),
    version: integer('version').notNull(),
    state: text('state').notNull(),
    stateReason: text('state_reason'),
    displayType: text('display_type').notNull(),
    chain: text('chain').notNull(),
    direction: text('direction').notNull(),
    visible: integer('visible', { mode: 'boolean' }).notNull(),
    createdAtMs: integer('created_at_ms').notNull(),
    updatedAtMs: integer('updated_at_ms').notNull(),
    txHash: text('tx_hash'),
    externalId: text('external_id'),
    /** A job is outstanding: the sweep wakes its vault when nothing has moved for a while. */
    watched: integer('watched', { mode: 'boolean' }).notNull(),
    record: text('record').notNull(),
  },
  (table) => [
    index('transactions_vault').on(table.vaultId, table.id),
    index('transactions_updated').on(table.vaultId, table.updatedAtMs),
    index('transactions_hash').on(table.txHash),
    index('transactions_watched')
      .on(table.updatedAtMs)
      .where(sql`watched = 1`),
    check('transactions_version', sql`version >= 1`),
  ],
);

/** The hash-chained history of each vault. */
export const audit = sqliteTable(
  'audit',
  {
    vaultId: integer('vault_id').notNull(),
    seq: integer('seq').notNull(),
    transactionId: text('transaction_id'),
    atMs: integer('at_ms').notNull(),
    entry: text('entry').notNull(),
    hash: text('hash').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.vaultId, table.seq] }),
    index('audit_transaction').on(table.transactionId, table.seq),
  ],
);

/** What the queues have given up on. */
export const deadLetters = sqliteTable('dead_letters', {
  id: text('id').primaryKey(),
  queue: text('queue').notNull(),
  body: text('body').notNull(),
  atMs: integer('at_ms').notNull(),
});

/** Browsers in which people want to be notified (Web Push). The keys are of the browser: with them it is written to, and nothing is read. */
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

/** What tokens say of themselves, as it was read on their chain; text of strangers. */
export const tokens = sqliteTable(
  'tokens',
  {
    chain: text('chain').notNull(),
    address: text('address').notNull(),
    symbol: text('symbol'),
    name: text('name'),
    decimals: integer('decimals'),
    readAtMs: integer('read_at_ms').notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.address] }), index('tokens_age').on(table.readAtMs)],
);

/** What sources of prices have said last, so that they are not asked for every payment. */
export const prices = sqliteTable(
  'prices',
  {
    /** `eip155:1`, `eip155:1/erc20:0x...`, or `solana:.../token:...`. */
    asset: text('asset').primaryKey(),
    state: text('state', { enum: ['known', 'unknown', 'unavailable'] }).notNull(),
    /** US dollars for a whole one, times 10^12, as decimal text; null when it is not known. */
    usdE12: text('usd_e12'),
    atMs: integer('at_ms').notNull(),
    requestedAtMs: integer('asked_at_ms').notNull(),
  },
  () => [
    check(
      'prices_state',
      sql`state in ('known', 'unknown', 'unavailable') and (state = 'known') = (usd_e12 is not null)`,
    ),
  ],
);

/** What monitors have sent, as it came, until it is dealt with: nothing that was acknowledged is ever only in a queue. */
export const deliveries = sqliteTable(
  'deliveries',
  {
    /** Of the endpoint and the monitor's own name for it, or of its bytes: the same delivery again is the same row. */
    id: text('id').primaryKey(),
    provider: text('provider').notNull(),
    endpointId: text('endpoint_id').notNull(),
    body: text('body').notNull(),
    receivedAtMs: integer('received_at_ms').notNull(),
    state: text('state', { enum: ['open', 'done', 'failed'] }).notNull(),
    tries: integer('tries').notNull(),
    /** When it is worked on next, while it is open. */
    dueAtMs: integer('due_at_ms').notNull(),
    /** What became of it, for people. */
    outcome: text('outcome'),
  },
  (table) => [
    index('deliveries_due')
      .on(table.dueAtMs)
      .where(sql`state = 'open'`),
    index('deliveries_origin')
      .on(table.endpointId)
      .where(sql`state = 'open'`),
    index('deliveries_age')
      .on(table.receivedAtMs)
      .where(sql`state = 'done'`),
    index('deliveries_failed')
      .on(table.receivedAtMs)
      .where(sql`state = 'failed'`),
    check('deliveries_state', sql`state in ('open', 'done', 'failed')`),
  ],
);
