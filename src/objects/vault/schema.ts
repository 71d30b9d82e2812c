import {
  ACTIVITY_TABLES,
  BALANCE_PROOF_TABLE,
  DAILY_LIMIT_TABLES,
  LISTING_TABLE,
  LOW_VALUE_INDEX,
  SPAM_TABLE,
} from '#objects/vault/tables/activity-table.ts';
import { BALANCE_TABLES, VISIBLE_BALANCE_INDEX } from '#objects/vault/tables/balance-table.ts';
import { PENDING_INDEX } from '#objects/vault/tables/pending-count.ts';
import { RECIPIENT_INDEX } from '#objects/vault/tables/recipient-table.ts';
import { POLICY_TABLES, SPENT_INDEX, UNDATED_SPENDING } from '#objects/vault/tables/policy-table.ts';
import { RETENTION_TABLE, UNPRUNED_DRAFTS } from '#objects/vault/tables/retention-table.ts';
import { UTXO_LOCK_TABLE } from '#objects/vault/tables/utxo-lock-table.ts';
import { APPROVAL_TABLE } from '#objects/vault/tables/approval-table.ts';
import { CREDENTIAL_RESET_TABLE } from '#objects/vault/tables/reset-table.ts';
import type { ObjectSchema } from '#store/object-schema.ts';

/**
 * The tables of one vault object. Tables of short rows are WITHOUT ROWID; documents of a kilobyte
 * are better in plain ones. `signed` repeats the record: if a bug in the domain would sign an
 * attempt twice, SQL refuses the commit.
 */
const VAULT_TABLES = `
  CREATE TABLE vault (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), document TEXT NOT NULL);
  CREATE TABLE key_candidate (scheme TEXT PRIMARY KEY, document TEXT NOT NULL);
  CREATE TABLE key_refresh (key_id TEXT PRIMARY KEY, document TEXT NOT NULL);
  CREATE TABLE tx (id TEXT PRIMARY KEY, version INTEGER NOT NULL, pending INTEGER NOT NULL CHECK (pending IN (0, 1)), document TEXT NOT NULL);
  ${PENDING_INDEX}
  ${APPROVAL_TABLE}
  CREATE TABLE signed (tx_id TEXT NOT NULL, attempt INTEGER NOT NULL, hash TEXT NOT NULL UNIQUE, PRIMARY KEY (tx_id, attempt)) WITHOUT ROWID;
  CREATE TABLE history (seq INTEGER PRIMARY KEY, document TEXT NOT NULL, hash TEXT NOT NULL UNIQUE);
  CREATE TABLE outbox (tx_id TEXT NOT NULL, job TEXT NOT NULL, version INTEGER NOT NULL, due_at_ms INTEGER NOT NULL, tries INTEGER NOT NULL, PRIMARY KEY (tx_id, job)) WITHOUT ROWID;
  CREATE INDEX outbox_due ON outbox (due_at_ms);
  CREATE TABLE idempotency (user_id TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, document TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (user_id, key));
  CREATE INDEX idempotency_age ON idempotency (at_ms);
  CREATE TABLE counterparty (shape TEXT NOT NULL, address TEXT NOT NULL, PRIMARY KEY (shape, address)) WITHOUT ROWID;
  CREATE TABLE external (external_id TEXT PRIMARY KEY, tx_id TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE projected (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), seq INTEGER NOT NULL);
  INSERT INTO projected (only_row, seq) VALUES (0, 0);
`;

/**
 * Each job waits in the outbox for days or only for the next projection, so a reader of some jobs
 * must not read the others.
 */
const OUTBOX_INDEXES = `
  DROP INDEX outbox_due;
  CREATE INDEX outbox_job ON outbox (job, due_at_ms);
  CREATE INDEX outbox_work ON outbox (due_at_ms) WHERE job <> 'project';
`;

const IS_UNLOGGED = `document LIKE '%"failure":"The token was not transferred."%' AND json_extract(document, '$.state') = 'FAILED'`;

/**
 * Release 0.2.0 ended a token payment as FAILED when its token logged no transfer. The payment can
 * have been made. Its block counts as not final, and it is polled once more: the balances, or a
 * person, decide.
 */
const UNLOGGED_PAYMENTS = `
  UPDATE tx SET document = json_set(document, '$.inclusion.finalized', json('false')) WHERE ${IS_UNLOGGED};
  INSERT OR REPLACE INTO outbox (tx_id, job, version, due_at_ms, tries)
    SELECT id, 'confirm', version, 0, 0 FROM tx WHERE ${IS_UNLOGGED};
`;

/**
 * Release 0.2.0 did not write the number of pending policy changes and credential resets into the
 * directory. Each vault enters it again.
 */
const DIRECTORY_ENTRY = `
  INSERT OR REPLACE INTO outbox (tx_id, job, version, due_at_ms, tries)
    SELECT '', 'project', coalesce((SELECT max(seq) FROM history), 0), 0, 0 FROM vault;
`;

/** Release 0.2.0 disabled no access, and every member had joined without an invitation. */
const MEMBER_ACCESS = `
  UPDATE vault SET document = json_set(document, '$.v', 2, '$.invitations', json('[]'), '$.disabledAccess', json('[]'),
    '$.accessVersions', json('{}'));
`;

/** The state of a vault object. See `ObjectSchema` before you change it. */
export const VAULT_SCHEMA: ObjectSchema = {
  name: 'vault',
  migrations: [
    (sql) => {
      for (const tables of [VAULT_TABLES, POLICY_TABLES, ACTIVITY_TABLES, BALANCE_TABLES, CREDENTIAL_RESET_TABLE]) {
        sql.exec(tables);
      }
    },
    (sql) => {
      for (const change of [SPAM_TABLE, OUTBOX_INDEXES, SPENT_INDEX, VISIBLE_BALANCE_INDEX]) sql.exec(change);
    },
    (sql) => {
      sql.exec(UNLOGGED_PAYMENTS);
    },
    (sql) => {
      sql.exec(LISTING_TABLE);
    },
    (sql) => {
      sql.exec(DAILY_LIMIT_TABLES);
    },
    (sql) => {
      sql.exec(BALANCE_PROOF_TABLE);
    },
    (sql) => {
      sql.exec(LOW_VALUE_INDEX);
    },
    (sql) => {
      sql.exec(UTXO_LOCK_TABLE);
    },
    (sql) => {
      sql.exec(DIRECTORY_ENTRY);
    },
    (sql) => {
      sql.exec(RECIPIENT_INDEX);
    },
    (sql) => {
      sql.exec(MEMBER_ACCESS);
    },
    (sql) => {
      sql.exec(UNDATED_SPENDING);
    },
    (sql) => {
      sql.exec(RETENTION_TABLE);
      sql.exec(UNPRUNED_DRAFTS);
    },
  ],
};
