import type { TokenId, VaultId, CredentialResetId } from '#domain/id.ts';
import { parseTokenId, parseVaultId } from '#domain/id.ts';
import type { ObjectSchema } from '#store/object-schema.ts';
import { ACCESS_ACT_TABLE, AccessActStorage } from '#objects/person/access-storage.ts';
import { CREATION_KEY_TABLE, CreationKeys } from '#objects/person/creation-keys.ts';
import { createState, stateVersion, UnreadableState } from '#store/object-schema.ts';
import { CREDENTIAL_RESET_TABLE, CredentialResetStorage } from '#objects/vault/tables/reset-table.ts';

/**
 * `person` has its row from the registration of the user. A user who is older than this table has
 * none and counts as enrolled. `issued` has the newest credential of each grant, and `announced`
 * the version of each reset that each vault knows.
 */
const TABLES = `
  CREATE TABLE person (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), enrolled INTEGER NOT NULL CHECK (enrolled IN (0, 1)));
  CREATE TABLE issued (grant_id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('access-token', 'session', 'identity')), credential_id TEXT) WITHOUT ROWID;
  CREATE TABLE announced (reset_id TEXT NOT NULL, vault_id INTEGER NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (reset_id, vault_id)) WITHOUT ROWID;
`;

/** Whether the user is a service account. Only its creation says so. */
const SERVICE_ACCOUNT_COLUMN = `
  ALTER TABLE person ADD COLUMN service_account INTEGER NOT NULL DEFAULT 0 CHECK (service_account IN (0, 1));
`;

/** The state of a person's object. See `ObjectSchema` before you change it. */
export const PERSON_SCHEMA: ObjectSchema = {
  name: 'person',
  migrations: [
    (sql) => {
      for (const tables of [TABLES, CREDENTIAL_RESET_TABLE]) sql.exec(tables);
    },
    (sql) => {
      sql.exec(ACCESS_ACT_TABLE);
      sql.exec(SERVICE_ACCOUNT_COLUMN);
      sql.exec(CREATION_KEY_TABLE);
    },
  ],
};

/** In place of a credential's id, for an identity that the directory has deleted. */
const RELEASED = 'released';

/** The permission of an operator to issue a credential: the user's enrolment, or a reset. */
export type Grant = 'enrolment' | CredentialResetId;

export type IssuedCredential =
  | { readonly kind: 'access-token' | 'session'; readonly id: TokenId }
  /**
   * The user may log in with another identity; not released while the directory has the old one.
   */
  | { readonly kind: 'identity'; readonly isReleased: boolean };

/**
 * Reads and writes of one user's object. Every write happens inside the object's `transactionSync`.
 */
export class PersonStorage {
  readonly #sql: SqlStorage;
  readonly resets: CredentialResetStorage;
  readonly acts: AccessActStorage;
  readonly creationKeys: CreationKeys;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.resets = new CredentialResetStorage(sql);
    this.acts = new AccessActStorage(sql);
    this.creationKeys = new CreationKeys(sql);
  }

  createTables(): void {
    createState(this.#sql, PERSON_SCHEMA);
  }

  /** Registers a new user, who has never had a credential. Idempotent. */
  open({ isServiceAccount }: { readonly isServiceAccount: boolean }): void {
    this.createTables();
    const add = 'INSERT OR IGNORE INTO person (only_row, enrolled, service_account) VALUES (0, 0, ?)';
    this.#sql.exec(add, isServiceAccount ? 1 : 0);
  }

  isServiceAccount(): boolean {
    if (!this.#exists()) return false;
    return this.#sql.exec('SELECT 1 FROM person WHERE service_account = 1').toArray().length > 0;
  }

  /**
   * Reports whether the enrolment is over. True for a user without a record: that user is older
   * than this object.
   */
  isEnrolled(): boolean {
    if (!this.#exists()) return true;
    const row = this.#sql.exec<{ enrolled: number }>('SELECT enrolled FROM person').toArray()[0];
    return row === undefined || row.enrolled === 1;
  }

  endEnrolment(): void {
    this.#sql.exec('UPDATE person SET enrolled = 1');
  }

  /** Returns the newest credential that was issued under a grant, or null. */
  issued(grant: Grant): IssuedCredential | null {
    if (!this.#exists()) return null;
    const query = 'SELECT kind, credential_id FROM issued WHERE grant_id = ?';
    const row = this.#sql.exec<{ kind: string; credential_id: string | null }>(query, grant).toArray()[0];
    if (row === undefined) return null;
    const { kind, credential_id: text } = row;
    if (kind === 'identity' && (text === null || text === RELEASED)) return { kind, isReleased: text === RELEASED };
    const id = parseTokenId(text ?? '');
    if ((kind === 'access-token' || kind === 'session') && id !== null) return { kind, id };
    throw new UnreadableState('an issued credential of a person is damaged');
  }

  putIssued(grant: Grant, credential: IssuedCredential): void {
    const put = 'INSERT OR REPLACE INTO issued (grant_id, kind, credential_id) VALUES (?, ?, ?)';
    const id = credential.kind === 'identity' ? (credential.isReleased ? RELEASED : null) : credential.id;
    this.#sql.exec(put, grant, credential.kind, id);
  }

  /** Records that a vault must learn of a reset. Idempotent. */
  addVault(resetId: CredentialResetId, vaultId: VaultId): void {
    const add = 'INSERT OR IGNORE INTO announced (reset_id, vault_id, version) VALUES (?, ?, 0)';
    this.#sql.exec(add, resetId, vaultId);
  }

  /** Records that a vault knows this version of a reset. */
  putAnnounced(resetId: CredentialResetId, vaultId: VaultId, version: number): void {
    const put = 'UPDATE announced SET version = max(version, ?) WHERE reset_id = ? AND vault_id = ?';
    this.#sql.exec(put, version, resetId, vaultId);
  }

  /** Records that a vault need not know: it does not exist, or the user is not a member. */
  removeVault(resetId: CredentialResetId, vaultId: VaultId): void {
    this.#sql.exec('DELETE FROM announced WHERE reset_id = ? AND vault_id = ?', resetId, vaultId);
  }

  /** Returns the vaults that do not know this version of a reset. */
  vaultsBehind(resetId: CredentialResetId, version: number): readonly VaultId[] {
    if (!this.#exists()) return [];
    const query = 'SELECT vault_id FROM announced WHERE reset_id = ? AND version < ?';
    const rows = this.#sql.exec<{ vault_id: number }>(query, resetId, version).toArray();
    return rows.flatMap((row) => parseVaultId(row.vault_id) ?? []);
  }

  /** Returns the resets of which some vault does not know the current version. */
  unannounced(): readonly string[] {
    if (!this.#exists()) return [];
    const query =
      'SELECT DISTINCT reset_id FROM announced JOIN credential_reset ON id = reset_id WHERE announced.version < credential_reset.version';
    return this.#sql
      .exec<{ reset_id: string }>(query)
      .toArray()
      .map((row) => row.reset_id);
  }

  /** Reports whether tables exist. Reading a user without an object leaves nothing behind. */
  #exists(): boolean {
    return stateVersion(this.#sql) > 0;
  }
}
