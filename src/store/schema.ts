import { sql } from 'drizzle-orm';
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

/**
 * The D1 schema. D1 is the source of truth for users and the directory, and a read model of the
 * rest, which can be rebuilt from the objects. It never authorizes anything. Times are Unix
 * milliseconds in columns that end in `_at_ms`.
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

/** A user's identities at OpenID Connect issuers: one at each issuer, and one user for each. */
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

/**
 * The sessions of the last day, so that all of a user's sessions can be ended. Their objects decide
 * whether they are valid.
 */
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
    /** When the sweep last woke the vault. */
    nudgedAtMs: integer('nudged_at_ms').notNull().default(0),
    /** The size of the vault object's database when the sweep last woke it; null before that. */
    sizeBytes: integer('size_bytes'),
    /**
     * The number of pending policy changes and credential resets of the vault, which no other table
     * has. It selects the vaults that a list of pending decisions opens. Null before the vault has
     * reported it.
     */
    pendingChanges: integer('pending_changes'),
    /** The length of the vault's history at that count. */
    pendingChangesSeq: integer('pending_changes_seq'),
    /**
     * JSON: the origins of the passkeys in the policy in force when the sweep last woke the vault.
     * Null before that.
     */
    passkeyOrigins: text('passkey_origins'),
  },
  (table) => [
    uniqueIndex('vaults_reference').on(table.reference),
    index('vaults_nudged').on(table.nudgedAtMs),
    index('vaults_size').on(table.sizeBytes),
  ],
);

/**
 * The members of each vault, for the list of a user's vaults. The vault itself decides on
 * membership.
 */
export const members = sqliteTable(
  'members',
  { vaultId: integer('vault_id').notNull(), userId: text('user_id').notNull() },
  (table) => [primaryKey({ columns: [table.vaultId, table.userId] }), index('members_user').on(table.userId)],
);

/** Maps an address to its vault, so that the activity of a chain finds its owner. */
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

/**
 * The tokens of each user. The token's object is the source of truth for everything else, and no
 * secret or hash is stored here.
 */
export const accessTokens = sqliteTable(
  'access_tokens',
  {
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    createdAtMs: integer('created_at_ms').notNull(),
    deletedAtMs: integer('deleted_at_ms'),
  },
  (table) => [
    index('access_tokens_user').on(table.userId),
    index('access_tokens_deleted')
      .on(table.deletedAtMs)
      .where(sql`deleted_at_ms is not null`),
  ],
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
    /** Null without one, and in rows that release 0.2.0 wrote last. */
    memo: text('memo'),
    /** A job is pending. Release 0.2.0 reads it; `due_at_ms` has taken its place. */
    watched: integer('watched', { mode: 'boolean' }).notNull(),
    /**
     * When the vault acts next on the pending job, unless its alarm was lost: then the sweep wakes
     * it. Null without a job.
     */
    dueAtMs: integer('due_at_ms'),
    record: text('record').notNull(),
    // The filters of the list since release 0.3.0. Null in rows that release 0.2.0 wrote last.
    kind: text('kind'),
    createdBy: text('created_by'),
    /** The contracts of the tokens that move, between spaces; those of EVM in lower case. */
    tokens: text('tokens'),
    /** The addresses of others, between spaces; those of EVM in lower case. */
    counterparties: text('counterparties'),
  },
  (table) => [
    index('transactions_vault').on(table.vaultId, table.id),
    // One for each filter of the list. A stranger can add any number of hidden records, so each
    // also separates the visible ones.
    index('transactions_visible').on(table.vaultId, table.visible, table.id),
    index('transactions_state').on(table.vaultId, table.state, table.visible, table.id),
    index('transactions_display_type').on(table.vaultId, table.displayType, table.visible, table.id),
    index('transactions_chain').on(table.vaultId, table.chain, table.visible, table.id),
    index('transactions_direction').on(table.vaultId, table.direction, table.visible, table.id),
    index('transactions_memo')
      .on(table.vaultId, table.memo, table.visible, table.id)
      .where(sql`memo is not null`),
    index('transactions_external_id')
      .on(table.vaultId, table.externalId, table.visible, table.id)
      .where(sql`external_id is not null`),
    index('transactions_tx_hash')
      .on(table.vaultId, table.txHash, table.visible, table.id)
      .where(sql`tx_hash is not null`),
    index('transactions_updated').on(table.vaultId, table.updatedAtMs),
    index('transactions_hash').on(table.txHash),
    index('transactions_due')
      .on(table.dueAtMs)
      .where(sql`due_at_ms is not null`),
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

/** The names that tokens report themselves, as read on their chain; untrusted text. */
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

/** The last answers of the price sources, so that not every payment calls them. */
export const prices = sqliteTable(
  'prices',
  {
    /** `eip155:1`, `eip155:1/erc20:0x...`, or `solana:.../token:...`. */
    asset: text('asset').primaryKey(),
    state: text('state', { enum: ['known', 'unknown', 'unavailable'] }).notNull(),
    /** US dollars for one whole unit, times 10^12, as decimal text; null when unknown. */
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

/**
 * The deliveries of monitors, unchanged, until they are processed: an acknowledged delivery is
 * never only in a queue.
 */
export const deliveries = sqliteTable(
  'deliveries',
  {
    /**
     * Hash of the endpoint and the monitor's own id for it, or of its bytes: the same delivery is
     * the same row.
     */
    id: text('id').primaryKey(),
    provider: text('provider').notNull(),
    endpointId: text('endpoint_id').notNull(),
    body: text('body').notNull(),
    receivedAtMs: integer('received_at_ms').notNull(),
    state: text('state', { enum: ['open', 'done', 'failed'] }).notNull(),
    tries: integer('tries').notNull(),
    /** The time of the next try, while it is open. */
    dueAtMs: integer('due_at_ms').notNull(),
    /** The result, as text for operators. */
    outcome: text('outcome'),
    /** The number of parts of a long delivery; 1 for a part, and 0 for a short delivery. */
    parts: integer('parts').notNull().default(0),
  },
  (table) => [
    index('deliveries_parts')
      .on(table.endpointId, table.parts)
      .where(sql`state = 'open' and parts > 0`),
    index('deliveries_due')
      .on(table.dueAtMs)
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

/**
 * What each endpoint of a monitor has delivered, for operators. The deliveries themselves are too
 * many to be counted whenever the status is read.
 */
export const monitorEndpoints = sqliteTable('monitor_endpoints', {
  endpointId: text('endpoint_id').primaryKey(),
  /** Of the newest delivery, to the minute. */
  lastDeliveryAtMs: integer('last_delivery_at_ms').notNull(),
  /** The number of deliveries that were not understood, or only in part. */
  unread: integer('unread').notNull(),
  /** The provider's name of what the last one contains; external input. */
  unreadKind: text('unread_kind'),
  /** The times of the last three, the newest first. */
  unreadAtMs: integer('unread_at_ms'),
  secondUnreadAtMs: integer('second_unread_at_ms'),
  thirdUnreadAtMs: integer('third_unread_at_ms'),
});

/** The token buckets of each endpoint (domain/activity/hint-budget.ts). */
export const hintBudgets = sqliteTable(
  'hint_budgets',
  {
    endpointId: text('endpoint_id').notNull(),
    lane: text('lane', { enum: ['fresh', 'known', 'missed', 'bulk'] }).notNull(),
    /** The time until which the hints so far occupy the lane. */
    freeAtMs: integer('free_at_ms').notNull(),
  },
  (table) => [primaryKey({ columns: [table.endpointId, table.lane] })],
);

/**
 * Scans of a chain's blocks for one wallet, until everything that they found is recorded. A scan
 * that finds many transactions continues as several rows, each with some of them.
 */
export const scans = sqliteTable(
  'scans',
  {
    /** Hash of the request and its minute; further rows of the scan add a number. */
    id: text('id').primaryKey(),
    vaultId: integer('vault_id').notNull(),
    /** CAIP-2. */
    chain: text('chain').notNull(),
    address: text('address').notNull(),
    /** Only the blocks after this one are scanned; null for the newest blocks. */
    sinceBlock: text('since_block'),
    /** JSON: the transactions that are still to be recorded; null until the blocks are read. */
    hashes: text('hashes'),
    /** The time of the request, of the reading of its blocks, or of the reopening. */
    startedAtMs: integer('started_at_ms').notNull(),
    state: text('state', { enum: ['open', 'done', 'failed'] }).notNull(),
    /** The number of tries since `startedAtMs`. */
    tries: integer('tries').notNull(),
    /** The time of the next try, while it is open. */
    dueAtMs: integer('due_at_ms').notNull(),
    /** The result of the last try, as text for operators. */
    outcome: text('outcome'),
    /**
     * The minute in which a member requested the scan, which names the report with this row; null
     * for other scans, for further rows, and when newer reports have replaced it.
     */
    reportAtMs: integer('report_at_ms'),
    /** JSON: the blocks that the scan has read; null until then, and in further rows. */
    coverage: text('coverage'),
    /** The number of transactions in the blocks; null until they are read, and in further rows. */
    found: integer('found'),
    /** The number of them that the vault had when the blocks were read. */
    known: integer('known'),
    /** The number of the others that the vault has since, over all rows of the scan. */
    added: integer('added').notNull().default(0),
    /** The number of the others that ended without a record, over all rows of the scan. */
    unrecorded: integer('unrecorded').notNull().default(0),
    /** Whether the vault had none of the hashes of this row when the blocks were read. */
    isFresh: integer('is_fresh', { mode: 'boolean' }).notNull().default(false),
  },
  (table) => [
    index('scans_report')
      .on(table.vaultId, table.reportAtMs)
      .where(sql`report_at_ms is not null`),
    index('scans_due')
      .on(table.dueAtMs)
      .where(sql`state = 'open'`),
    index('scans_wallet')
      .on(table.vaultId, table.chain)
      .where(sql`state = 'open'`),
    index('scans_age')
      .on(table.startedAtMs)
      .where(sql`state = 'done'`),
    index('scans_failed')
      .on(table.startedAtMs)
      .where(sql`state = 'failed'`),
    check('scans_state', sql`state in ('open', 'done', 'failed')`),
  ],
);
