import * as z from 'zod';
import { activityCodec } from '#objects/vault/documents/activity-documents.ts';
import type { Activity } from '#domain/activity/activity.ts';
import type { LimitedKind } from '#domain/activity/daily-limit.ts';

/** A hash has one record permanently, whatever the number of reports. */
export const ACTIVITY_TABLES = `
  CREATE TABLE activity (id TEXT PRIMARY KEY, chain TEXT NOT NULL, hash TEXT NOT NULL, document TEXT NOT NULL, UNIQUE (chain, hash));
  CREATE INDEX activity_waiting ON activity (chain) WHERE document ->> '$.state' = 'BROADCAST';
`;

/** The number of hidden records of each chain and UTC day, before `DAILY_LIMIT_TABLES`. */
export const SPAM_TABLE = `
  CREATE TABLE spam (chain TEXT NOT NULL, day INTEGER NOT NULL, recorded INTEGER NOT NULL, PRIMARY KEY (chain, day)) WITHOUT ROWID;
`;

/**
 * Replaces the table `spam`, which counted hidden records alone. An omitted payment is polled until
 * its block is final, and has a row until then.
 */
export const DAILY_LIMIT_TABLES = `
  CREATE TABLE daily_record (chain TEXT NOT NULL, kind TEXT NOT NULL, day INTEGER NOT NULL, recorded INTEGER NOT NULL, PRIMARY KEY (chain, kind)) WITHOUT ROWID;
  INSERT INTO daily_record (chain, kind, day, recorded) SELECT chain, 'hidden', max(day), recorded FROM spam GROUP BY chain;
  DROP TABLE spam;
  CREATE TABLE omitted (id TEXT PRIMARY KEY, chain TEXT NOT NULL, due_at_ms INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX omitted_due ON omitted (chain, due_at_ms);
`;

/**
 * The one transaction of a block whose payments by contracts the balances around the block prove.
 * Another transaction of the block would be proven by the same change of the balance.
 */
export const BALANCE_PROOF_TABLE = `
  CREATE TABLE balance_proof (chain TEXT NOT NULL, block_hash TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (chain, block_hash)) WITHOUT ROWID;
`;

/** Finds the records that a price hid: strangers can add hundreds of them a day. */
export const LOW_VALUE_INDEX =
  "CREATE INDEX activity_low_value ON activity (chain, id) WHERE document ->> '$.suspicion' = 'LOW_VALUE';";

/**
 * The listed tokens of each chain at the last judgement of its records, as a list in JSON, and the
 * record before which the next batch goes on; null when each record was judged.
 */
export const LISTING_TABLE = `
  CREATE TABLE listing (chain TEXT PRIMARY KEY, tokens TEXT NOT NULL, before_id TEXT) WITHOUT ROWID;
`;

/** How far the records of a chain were judged by a list of tokens. */
interface Listing {
  readonly tokens: readonly string[];
  readonly before: string | null;
}

const tokenList = z.array(z.string());

/**
 * A vault object's storage of activities. Every write happens inside the object's
 * `transactionSync`.
 */
export class ActivityStorage {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  read(id: string): Activity | null {
    return this.#one('SELECT document FROM activity WHERE id = ?', id);
  }

  ofHash(chain: string, hash: string): Activity | null {
    return this.#one('SELECT document FROM activity WHERE chain = ? AND hash = ?', chain, hash);
  }

  /** Returns the newest records of all chains. */
  newest(limit: number): readonly string[] {
    const rows = this.#sql.exec<{ id: string }>('SELECT id FROM activity ORDER BY id DESC LIMIT ?', limit).toArray();
    return rows.map(({ id }) => id);
  }

  /** Returns the number of activities that wait to be mined. */
  waiting(chain: string): number {
    const count = "SELECT count(*) AS waiting FROM activity WHERE chain = ? AND document ->> '$.state' = 'BROADCAST'";
    return this.#sql.exec<{ waiting: number }>(count, chain).one().waiting;
  }

  put(activity: Activity): void {
    this.#sql.exec(
      'INSERT INTO activity (id, chain, hash, document) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET document = excluded.document',
      activity.id,
      activity.chain,
      activity.hash,
      activityCodec.encode(activity),
    );
  }

  /**
   * Returns the newest records that a price hid and that moved at least so many units of an asset.
   */
  hiddenByValue(
    chain: string,
    { tokenAddress, units }: { readonly tokenAddress: string | null; readonly units: bigint },
    limit: number,
  ): readonly string[] {
    // The comparison is approximate for huge amounts. The caller judges each record exactly.
    const newest =
      "SELECT activity.id FROM activity JOIN ledger ON ledger.record_id = activity.id WHERE activity.chain = ? AND activity.document ->> '$.suspicion' = 'LOW_VALUE' AND ledger.token_address = ? AND abs(cast(ledger.units AS REAL)) >= cast(? AS REAL) ORDER BY activity.id DESC LIMIT ?";
    const rows = this.#sql.exec<{ id: string }>(newest, chain, tokenAddress ?? '', units.toString(), limit).toArray();
    return rows.map(({ id }) => id);
  }

  /** Returns the number of records of a kind that were counted on a day. */
  recordedOn(chain: string, kind: LimitedKind, day: number): number {
    const read = 'SELECT recorded FROM daily_record WHERE chain = ? AND kind = ? AND day = ?';
    return this.#sql.exec<{ recorded: number }>(read, chain, kind, day).toArray()[0]?.recorded ?? 0;
  }

  /** Counts one more record of a kind. The count of the day before ends. */
  countRecord(chain: string, kind: LimitedKind, day: number): void {
    const count =
      'INSERT INTO daily_record (chain, kind, day, recorded) VALUES (?, ?, ?, 1) ON CONFLICT (chain, kind) DO UPDATE SET recorded = iif(day = excluded.day, recorded + 1, 1), day = excluded.day';
    this.#sql.exec(count, chain, kind, day);
  }

  /** Sets when an omitted payment is polled again. */
  putOmitted({ id, chain }: Pick<Activity, 'id' | 'chain'>, dueAtMs: number): void {
    this.#sql.exec('INSERT OR REPLACE INTO omitted (id, chain, due_at_ms) VALUES (?, ?, ?)', id, chain, dueAtMs);
  }

  deleteOmitted(id: string): void {
    this.#sql.exec('DELETE FROM omitted WHERE id = ?', id);
  }

  /**
   * Returns the omitted payment of a chain whose poll is due first; null when each block is final,
   * and while one of the payments is being polled.
   */
  nextOmitted(chain: string): { readonly id: string; readonly dueAtMs: number } | null {
    const polled =
      "SELECT 1 FROM outbox JOIN omitted ON omitted.id = outbox.tx_id WHERE outbox.job = 'follow-omitted' AND omitted.chain = ?";
    if (this.#sql.exec(polled, chain).toArray().length > 0) return null;
    const read = 'SELECT id, due_at_ms AS dueAtMs FROM omitted WHERE chain = ? ORDER BY due_at_ms LIMIT 1';
    return this.#sql.exec<{ id: string; dueAtMs: number }>(read, chain).toArray()[0] ?? null;
  }

  /** Returns the last judgement by listed tokens; null before the first one. */
  listing(chain: string): Listing | null {
    const read = 'SELECT tokens, before_id FROM listing WHERE chain = ?';
    const row = this.#sql.exec<{ tokens: string; before_id: string | null }>(read, chain).toArray()[0];
    return row === undefined ? null : { tokens: tokenList.parse(JSON.parse(row.tokens)), before: row.before_id };
  }

  /**
   * Reports whether the balances around a block prove payments of this transaction, and of no other
   * one. The first transaction of a block that rests on them keeps them.
   */
  claimBlock(chain: string, { blockHash, hash }: { readonly blockHash: string; readonly hash: string }): boolean {
    const put = 'INSERT OR IGNORE INTO balance_proof (chain, block_hash, hash) VALUES (?, ?, ?)';
    this.#sql.exec(put, chain, blockHash, hash);
    const read = 'SELECT hash FROM balance_proof WHERE chain = ? AND block_hash = ?';
    return this.#sql.exec<{ hash: string }>(read, chain, blockHash).toArray()[0]?.hash === hash;
  }

  putListing(chain: string, { tokens, before }: Listing): void {
    const put =
      'INSERT INTO listing (chain, tokens, before_id) VALUES (?, ?, ?) ON CONFLICT (chain) DO UPDATE SET tokens = excluded.tokens, before_id = excluded.before_id';
    this.#sql.exec(put, chain, JSON.stringify(tokens), before);
  }

  /** Returns the records of all chains before one of them, or the newest ones; the newest first. */
  page(before: string | null, limit: number): readonly { readonly id: string; readonly chain: string }[] {
    const rows = before === null ? '' : 'WHERE id < ? ';
    const read = `SELECT id, chain FROM activity ${rows}ORDER BY id DESC LIMIT ?`;
    const bindings = before === null ? [limit] : [before, limit];
    return this.#sql.exec<{ id: string; chain: string }>(read, ...bindings).toArray();
  }

  /** Returns the vault's own transaction with this hash, or null. */
  ownTransaction(hash: string): string | null {
    return (
      this.#sql.exec<{ tx_id: string }>('SELECT tx_id FROM signed WHERE hash = ?', hash).toArray()[0]?.tx_id ?? null
    );
  }

  /**
   * Returns those of some hashes that the vault has in its lists: of its own transactions, and of
   * records that are not omitted.
   */
  listedAmong(chain: string, hashes: readonly string[]): readonly string[] {
    const read = `SELECT value AS hash FROM json_each(?) WHERE EXISTS (SELECT 1 FROM signed WHERE hash = value)
      OR EXISTS (SELECT 1 FROM activity WHERE chain = ? AND hash = value AND document ->> '$.isOmitted' IS NOT 1)`;
    return this.#sql
      .exec<{ hash: string }>(read, JSON.stringify(hashes), chain)
      .toArray()
      .map(({ hash }) => hash);
  }

  #one(query: string, ...bindings: string[]): Activity | null {
    const row = this.#sql.exec<{ document: string }>(query, ...bindings).toArray()[0];
    return row === undefined ? null : activityCodec.decode(row.document);
  }
}
