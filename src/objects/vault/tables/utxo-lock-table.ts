import { parseUserId } from '#domain/id.ts';
import type { UtxoLock, WalletOutpoint } from '#domain/wallet/utxo-lock.ts';
import { UnreadableState } from '#store/object-schema.ts';

/** The UTXOs that no payment may spend, as members locked them. */
export const UTXO_LOCK_TABLE = `
  CREATE TABLE utxo_lock (chain TEXT NOT NULL, outpoint TEXT NOT NULL, user_id TEXT NOT NULL, locked_at_ms INTEGER NOT NULL, PRIMARY KEY (chain, outpoint)) WITHOUT ROWID;
`;

interface Row {
  readonly [column: string]: SqlStorageValue;
  readonly chain: string;
  readonly outpoint: string;
  readonly user_id: string;
  readonly locked_at_ms: number;
}

/** A vault object's storage of locks. Every write happens inside the object's `transactionSync`. */
export class UtxoLockTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  read({ chain, outpoint }: WalletOutpoint): UtxoLock | null {
    return this.#rows('WHERE chain = ? AND outpoint = ?', chain, outpoint)[0] ?? null;
  }

  /** Returns the locks of a chain, by outpoint. */
  ofChain(chain: string): readonly UtxoLock[] {
    return this.#rows('WHERE chain = ? ORDER BY outpoint', chain);
  }

  /** Returns the number of locks of all chains. */
  count(): number {
    return this.#sql.exec<{ locks: number }>('SELECT count(*) AS locks FROM utxo_lock').one().locks;
  }

  add({ chain, outpoint, lockedBy, lockedAtMs }: UtxoLock): void {
    const add = 'INSERT INTO utxo_lock (chain, outpoint, user_id, locked_at_ms) VALUES (?, ?, ?, ?)';
    this.#sql.exec(add, chain, outpoint, lockedBy, lockedAtMs);
  }

  remove({ chain, outpoint }: WalletOutpoint): void {
    this.#sql.exec('DELETE FROM utxo_lock WHERE chain = ? AND outpoint = ?', chain, outpoint);
  }

  #rows(clause: string, ...bindings: string[]): readonly UtxoLock[] {
    const rows = this.#sql.exec<Row>(`SELECT * FROM utxo_lock ${clause}`, ...bindings).toArray();
    return rows.map(({ chain, outpoint, user_id: userId, locked_at_ms: lockedAtMs }) => {
      const lockedBy = parseUserId(userId);
      if (lockedBy === null) throw new UnreadableState('a stored lock of a UTXO is damaged');
      return { chain, outpoint, lockedBy, lockedAtMs };
    });
  }
}
