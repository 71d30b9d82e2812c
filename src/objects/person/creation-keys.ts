import type { VaultId } from '#domain/id.ts';
import { IDEMPOTENCY_MS } from '#objects/vault/storage.ts';
import { stateVersion } from '#store/object-schema.ts';

export const CREATION_KEY_TABLE = `
  CREATE TABLE creation_key (key TEXT PRIMARY KEY, vault_id INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX creation_key_age ON creation_key (at_ms);
`;

/** An Idempotency-Key, with the vault in which it creates a transaction. */
export interface CreationKey {
  readonly key: string;
  readonly vaultId: VaultId;
}

/**
 * The vault of each Idempotency-Key of one person. A vault knows its own keys alone: a request that
 * is repeated with another vault by mistake would otherwise pay a second time.
 */
export class CreationKeys {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns the number of the vault that the key is bound to; null for a free key. */
  vaultOf(key: string, nowMs: number): number | null {
    if (stateVersion(this.#sql) === 0) return null;
    const find = 'SELECT vault_id FROM creation_key WHERE key = ? AND at_ms > ?';
    const bound = this.#sql.exec<{ vault_id: number }>(find, key, nowMs - IDEMPOTENCY_MS).toArray()[0];
    return bound?.vault_id ?? null;
  }

  /** Binds a free key to a vault, for as long as the vault stores the answer. */
  bind({ key, vaultId }: CreationKey, nowMs: number): void {
    this.#sql.exec('DELETE FROM creation_key WHERE at_ms <= ?', nowMs - IDEMPOTENCY_MS);
    const add = 'INSERT INTO creation_key (key, vault_id, at_ms) VALUES (?, ?, ?)';
    this.#sql.exec(add, key, vaultId, nowMs);
  }

  release({ key, vaultId }: CreationKey): void {
    this.#sql.exec('DELETE FROM creation_key WHERE key = ? AND vault_id = ?', key, vaultId);
  }
}
