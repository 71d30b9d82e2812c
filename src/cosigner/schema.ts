import type { ObjectSchema } from '#store/object-schema.ts';

/** Of a key and of a pair. `session` and `ban` are of any object with sessions. */
const KEY_TABLES = `
  CREATE TABLE session (sid TEXT PRIMARY KEY, round INTEGER NOT NULL, opened_at_ms INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX session_age ON session (opened_at_ms);
  CREATE TABLE sealed (epoch INTEGER PRIMARY KEY, base_epoch INTEGER NOT NULL, is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)), made_at_ms INTEGER NOT NULL, kek_id TEXT NOT NULL, salt TEXT NOT NULL, iv TEXT NOT NULL, ciphertext TEXT NOT NULL, label TEXT NOT NULL, receipts TEXT NOT NULL DEFAULT '{}');
  CREATE TABLE memory (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), since_ms INTEGER NOT NULL);
  CREATE TABLE confirmed (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), epoch INTEGER NOT NULL);
  CREATE TABLE vault (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), id INTEGER NOT NULL);
  CREATE TABLE signed (tx_id TEXT NOT NULL, attempt INTEGER NOT NULL, purpose TEXT NOT NULL, intent_digest TEXT NOT NULL, signing_digest TEXT NOT NULL, nonce TEXT, max_fee TEXT, max_tip TEXT, PRIMARY KEY (tx_id, attempt)) WITHOUT ROWID;
  CREATE UNIQUE INDEX signed_once ON signed (signing_digest) WHERE nonce IS NOT NULL;
  CREATE TABLE attested (tx_id TEXT NOT NULL, attempt INTEGER NOT NULL, PRIMARY KEY (tx_id, attempt)) WITHOUT ROWID;
  CREATE TABLE ban (identity TEXT PRIMARY KEY, step TEXT NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
`;

/**
 * Every check looks for a digest, also among those of messages, which `signed_once` does not have.
 */
const DIGEST_INDEX = 'CREATE INDEX signed_digest ON signed (signing_digest)';

/** Rows are never deleted: an auditor compares them with the history of the vault. */
const EXPORT_TABLE = `CREATE TABLE export (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, epoch INTEGER NOT NULL, recovery_key TEXT NOT NULL)`;

const POLICY_TABLES = `
  CREATE TABLE vault_policy (version INTEGER PRIMARY KEY, hash TEXT NOT NULL, document TEXT NOT NULL);
  CREATE TABLE vault_choice (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), version INTEGER NOT NULL, hash TEXT NOT NULL, until_ms INTEGER NOT NULL);
  CREATE TABLE vault_pin (only_row INTEGER PRIMARY KEY CHECK (only_row = 0));
`;

/**
 * The state of an object of a co-signer. All of them are of one class, whatever they are for. See
 * `ObjectSchema` before you change it.
 */
export const COSIGNER_SCHEMA: ObjectSchema = {
  name: 'co-signer object',
  migrations: [
    (sql) => {
      for (const tables of [KEY_TABLES, EXPORT_TABLE, POLICY_TABLES]) sql.exec(tables);
    },
    (sql) => void sql.exec(DIGEST_INDEX),
  ],
};
