import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';

/** Rows are never changed: an adopted policy stays in the history of its vault. */
const SCHEMA = 'CREATE TABLE IF NOT EXISTS vault_policy (version INTEGER PRIMARY KEY, hash TEXT NOT NULL)';

/** The hashes of a vault's policies from version 1 on, lower-case hex. */
export type PolicyHashes = readonly string[];

/**
 * The policies of one vault that this co-signer adopted, under any key of the vault. They are in an
 * object of their own that no request of the coordinator reaches. The object of a key has checked
 * them before, so this object compares only hashes and never reads a policy.
 *
 * Nothing here awaits: a comparison and the rows that follow from it are one step of the object.
 */
export class VaultPolicies {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns the hashes of all policies. Reading a vault that has none writes nothing. */
  list(): PolicyHashes {
    const table = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'vault_policy'").toArray();
    if (table.length === 0) return [];
    const rows = this.#sql.exec<{ hash: string }>('SELECT hash FROM vault_policy ORDER BY version').toArray();
    return rows.map(({ hash }) => hash);
  }

  /**
   * Returns null and stores the policies when the chain of a key agrees with them: it is the same,
   * shorter or longer. Repeating a chain changes nothing. Refuses `policy-mismatch`.
   */
  extend(chain: PolicyHashes): Refused | null {
    const held = this.list();
    if (isFork(held, chain)) return refusal('policy-mismatch', 'vault');
    this.#sql.exec(SCHEMA);
    for (const [i, hash] of chain.entries()) {
      if (i >= held.length) this.#sql.exec('INSERT INTO vault_policy (version, hash) VALUES (?, ?)', i + 1, hash);
    }
    return null;
  }

  /**
   * Works as `extend` for the chain that a new key begins with. Refuses what `newKeyFault` refuses.
   */
  extendByNewKey(chain: PolicyHashes): Refused | null {
    return newKeyFault(this.list(), chain) ?? this.extend(chain);
  }
}

/**
 * Returns why a new key may not begin with a chain of policies, or null: a chain that lacks
 * policies of the vault would give their revoked devices a key. The refusals are `policy-mismatch`,
 * and `policy-ahead` with the version that this co-signer has.
 */
export function newKeyFault(held: PolicyHashes, chain: PolicyHashes): Refused | null {
  if (isFork(held, chain)) return refusal('policy-mismatch', 'vault');
  return chain.length < held.length ? refusal('policy-ahead', String(held.length)) : null;
}

function isFork(held: PolicyHashes, chain: PolicyHashes): boolean {
  return held.slice(0, chain.length).some((hash, i) => hash !== chain[i]);
}
