import { readableTransactions, transactionCodec } from '#objects/vault/documents/transaction-document.ts';
import { keyCandidateCodec, keyRefreshCodec, vaultCodec } from '#objects/vault/documents/vault-documents.ts';
import { shapeOf } from '#domain/activity/lookalike.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isFinal, isPending, newestAttempt } from '#domain/transaction/transaction.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { keepsReservation } from '#domain/transaction/job.ts';
import type { KeyCandidate, KeyRefresh, Vault } from '#domain/vault/vault.ts';
import { ActivityStorage } from '#objects/vault/tables/activity-table.ts';
import { CredentialResetStorage } from '#objects/vault/tables/reset-table.ts';
import { VAULT_SCHEMA } from '#objects/vault/schema.ts';
import { createState, stateVersion, UnreadableState } from '#store/object-schema.ts';
import type { OutboxJob, OutboxRow } from '#objects/outbox.ts';
import { isOutboxJob } from '#objects/outbox.ts';
import { BalanceTable } from '#objects/vault/tables/balance-table.ts';
import type { HistoryLine } from '#objects/vault/tables/history-table.ts';
import { HistoryTable } from '#objects/vault/tables/history-table.ts';
import { PendingCount } from '#objects/vault/tables/pending-count.ts';
import { PolicyStorage } from '#objects/vault/tables/policy-table.ts';
import { RecipientTable } from '#objects/vault/tables/recipient-table.ts';
import { RetentionTable } from '#objects/vault/tables/retention-table.ts';
import { UtxoLockTable } from '#objects/vault/tables/utxo-lock-table.ts';
import { ApprovalTable } from '#objects/vault/tables/approval-table.ts';

/** In place of a transaction: history entries that are not projected yet. */
const HISTORY = 'history';

/** How long an Idempotency-Key is stored. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000;

export interface IdempotentResult {
  readonly fingerprint: string;
  /** The record in the first answer. */
  readonly transaction: Transaction;
}

export interface UnprojectedHistory {
  /** The last entry in the read model. */
  readonly afterSeq: number;
  readonly lines: readonly HistoryLine[];
}

/** Reads and writes of one vault object. Every write is inside the object's `transactionSync`. */
export class VaultStorage {
  readonly #sql: SqlStorage;
  readonly policies: PolicyStorage;
  readonly activities: ActivityStorage;
  readonly balances: BalanceTable;
  readonly resets: CredentialResetStorage;
  readonly pending: PendingCount;
  readonly history: HistoryTable;
  readonly utxoLocks: UtxoLockTable;
  readonly recipients: RecipientTable;
  readonly retention: RetentionTable;
  readonly approvals: ApprovalTable;

  /** Whether push notifications are enabled. */
  readonly notificationsEnabled: boolean;

  constructor(sql: SqlStorage, notificationsEnabled: boolean) {
    this.#sql = sql;
    this.notificationsEnabled = notificationsEnabled;
    this.policies = new PolicyStorage(sql);
    this.activities = new ActivityStorage(sql);
    this.balances = new BalanceTable(sql);
    this.resets = new CredentialResetStorage(sql);
    this.pending = new PendingCount(sql);
    this.history = new HistoryTable(sql);
    this.utxoLocks = new UtxoLockTable(sql);
    this.recipients = new RecipientTable(sql);
    this.retention = new RetentionTable(sql);
    this.approvals = new ApprovalTable(sql);
  }

  /** Reports whether the vault was created. Reading one without tables leaves nothing behind. */
  exists(): boolean {
    return stateVersion(this.#sql) > 0;
  }

  createTables(): void {
    createState(this.#sql, VAULT_SCHEMA);
  }

  /** Returns the candidate, or null. */
  keyCandidate(scheme: KeyScheme): KeyCandidate | null {
    const found = 'SELECT document FROM key_candidate WHERE scheme = ?';
    const row = this.#sql.exec<{ document: string }>(found, scheme).toArray()[0];
    return row === undefined ? null : keyCandidateCodec.decode(row.document);
  }

  putKeyCandidate(candidate: KeyCandidate): void {
    const put =
      'INSERT INTO key_candidate (scheme, document) VALUES (?, ?) ON CONFLICT (scheme) DO UPDATE SET document = excluded.document';
    this.#sql.exec(put, candidate.scheme, keyCandidateCodec.encode(candidate));
  }

  dropKeyCandidate(scheme: KeyScheme): void {
    this.#sql.exec('DELETE FROM key_candidate WHERE scheme = ?', scheme);
  }

  /** Returns those that are not done, in order. */
  keyRefreshes(): readonly KeyRefresh[] {
    const rows = this.#sql.exec<{ document: string }>('SELECT document FROM key_refresh ORDER BY rowid').toArray();
    return rows.map((row) => keyRefreshCodec.decode(row.document));
  }

  putKeyRefresh(refresh: KeyRefresh): void {
    const put =
      'INSERT INTO key_refresh (key_id, document) VALUES (?, ?) ON CONFLICT (key_id) DO UPDATE SET document = excluded.document';
    this.#sql.exec(put, refresh.keyId, keyRefreshCodec.encode(refresh));
  }

  dropKeyRefresh(keyId: string): void {
    this.#sql.exec('DELETE FROM key_refresh WHERE key_id = ?', keyId);
  }

  vault(): Vault | null {
    const row = this.#sql.exec<{ document: string }>('SELECT document FROM vault').toArray()[0];
    return row === undefined ? null : vaultCodec.decode(row.document);
  }

  putVault(vault: Vault): void {
    this.#sql.exec('INSERT OR REPLACE INTO vault (only_row, document) VALUES (0, ?)', vaultCodec.encode(vault));
  }

  transaction(id: string): Transaction | null {
    const row = this.#sql.exec<{ document: string }>('SELECT document FROM tx WHERE id = ?', id).toArray()[0];
    return row === undefined ? null : transactionCodec.decode(row.document);
  }

  /** Returns the readable ones with these ids, in any order. */
  transactions(ids: readonly string[]): readonly Transaction[] {
    return readableTransactions(this.#documentsWhere('id IN (SELECT value FROM json_each(?))', JSON.stringify(ids)));
  }

  pendingTransactions(): readonly Transaction[] {
    return readableTransactions(this.#documentsWhere('pending = 1'));
  }

  /** Returns pending transactions, the earliest end of the decision first. */
  pendingByDeadline(limit: number): readonly Transaction[] {
    const deadline = "json_extract(document, '$.intent.expiresAtMs')";
    return readableTransactions(this.#documentsWhere(`pending = 1 ORDER BY ${deadline}, id LIMIT ${limit}`));
  }

  /** Returns the number of policy changes and credential resets that wait for members. */
  pendingChangeCount(): number {
    const changes = 'SELECT count(*) FROM policy_change WHERE pending = 1';
    const resets = "SELECT count(*) FROM credential_reset WHERE state = 'PENDING'";
    return this.#sql.exec<{ n: number }>(`SELECT (${changes}) + (${resets}) AS n`).one().n;
  }

  /** Returns decided transactions that are in no block yet, by their jobs. */
  transactionsInFlight(): readonly Transaction[] {
    const found = readableTransactions(this.#documentsWithJobs("'sign', 'broadcast', 'confirm'"));
    return found.filter(({ inclusion, state }) => inclusion === null && !isFinal(state));
  }

  /**
   * Returns transactions that may own a nonce, or for which one stays reserved: the job stays until
   * the allocator has the outcome. Throws when one of them is unreadable: its nonce could be given
   * to another one otherwise.
   */
  transactionsWithNonces(): readonly Transaction[] {
    const documents = this.#documentsWithJobs("'sign', 'broadcast', 'confirm', 'settle'");
    const found = documents.map((document) => transactionCodec.decode(document));
    return found.filter((one) => one.nonceHeld || keepsReservation(one));
  }

  /** Returns the newest transactions that ended in a final block, the newest block first. */
  newestFinal(limit: number): readonly Transaction[] {
    const newest = `pending = 0 AND id IN (SELECT id FROM tx ORDER BY id DESC LIMIT ${limit})`;
    const found = readableTransactions(this.#documentsWhere(newest)).filter((one) => one.inclusion?.finalized === true);
    const numberOf = ({ inclusion }: Transaction) => BigInt(inclusion?.blockNumber ?? 0);
    return found.toSorted((a, b) => (numberOf(a) > numberOf(b) ? -1 : 1));
  }

  /** Returns the newest transactions, except drafts, the newest first. */
  newestSubmitted(limit: number): readonly Transaction[] {
    const newest = `document ->> '$.state' <> 'DRAFT' ORDER BY id DESC LIMIT ${limit}`;
    return readableTransactions(this.#documentsWhere(newest));
  }

  #documentsWithJobs(jobs: string): readonly string[] {
    return this.#documentsWhere(`id IN (SELECT tx_id FROM outbox WHERE job IN (${jobs}))`);
  }

  #documentsWhere(condition: string, ...bindings: string[]): readonly string[] {
    const where = `SELECT document FROM tx WHERE ${condition}`;
    return [...this.#sql.exec<{ document: string }>(where, ...bindings)].map(({ document }) => document);
  }

  /** Clears what is cached after a commit that was rolled back. */
  forget(): void {
    this.pending.forget();
    this.history.forget();
  }

  insertTransaction(transaction: Transaction): void {
    this.pending.add(1, transaction.createdBy.userId);
    this.#sql.exec(
      'INSERT INTO tx (id, version, pending, document) VALUES (?, ?, 1, ?)',
      transaction.id,
      transaction.version,
      transactionCodec.encode(transaction),
    );
    if (transaction.externalId !== null) {
      const { externalId, id } = transaction;
      this.#sql.exec('INSERT OR REPLACE INTO external (external_id, tx_id) VALUES (?, ?)', externalId, id);
    }
  }

  /** Replaces a record. Throws when the stored version is not the previous one. */
  updateTransaction(before: Transaction, after: Transaction): void {
    const pending = isPending(after.state);
    const written = this.#sql.exec(
      'UPDATE tx SET version = ?, pending = ?, document = ? WHERE id = ? AND version = ?',
      after.version,
      pending ? 1 : 0,
      transactionCodec.encode(after),
      after.id,
      before.version,
    );
    if (written.rowsWritten === 0) throw new Error('the stored transaction is not the version that was decided on');
    if (isPending(before.state) && !pending) this.pending.add(-1, after.createdBy.userId);
    if (this.approvals.put(before, after)) this.retention.keep(after);
    const attempt = newestAttempt(after);
    if (attempt?.signed != null && before.attempts[attempt.number - 1]?.signed == null) {
      this.#sql.exec(
        'INSERT INTO signed (tx_id, attempt, hash) VALUES (?, ?, ?)',
        after.id,
        attempt.number,
        attempt.signed.hash,
      );
    }
  }

  /** Returns the newest transaction with an external id; null without one. */
  transactionOfExternalId(externalId: string): Transaction | null {
    const rows = this.#sql.exec<{ tx_id: string }>('SELECT tx_id FROM external WHERE external_id = ?', externalId);
    return this.transaction(rows.toArray()[0]?.tx_id ?? '');
  }

  /** Returns counterparties of one shape (domain/activity/lookalike.ts). */
  counterpartiesLike(shape: string): readonly string[] {
    const rows = this.#sql.exec<{ address: string }>('SELECT address FROM counterparty WHERE shape = ?', shape);
    return rows.toArray().map(({ address }) => address);
  }

  addCounterparties(addresses: readonly string[]): void {
    for (const address of addresses) {
      this.#sql.exec('INSERT OR IGNORE INTO counterparty (shape, address) VALUES (?, ?)', shapeOf(address), address);
    }
  }

  findIdempotent(userId: string, key: string, nowMs: number): IdempotentResult | null {
    const find = 'SELECT fingerprint, document FROM idempotency WHERE user_id = ? AND key = ? AND at_ms > ?';
    const bindings = [userId, key, nowMs - IDEMPOTENCY_MS];
    const row = this.#sql.exec<{ fingerprint: string; document: string }>(find, ...bindings).toArray()[0];
    if (row === undefined) return null;
    return { fingerprint: row.fingerprint, transaction: transactionCodec.decode(row.document) };
  }

  saveIdempotent(userId: string, idempotency: { key: string; fingerprint: string }, transaction: Transaction): void {
    this.#sql.exec('DELETE FROM idempotency WHERE at_ms <= ?', transaction.createdAtMs - IDEMPOTENCY_MS);
    this.#sql.exec(
      'INSERT INTO idempotency (user_id, key, fingerprint, document, at_ms) VALUES (?, ?, ?, ?, ?)',
      userId,
      idempotency.key,
      idempotency.fingerprint,
      transactionCodec.encode(transaction),
      transaction.createdAtMs,
    );
  }

  /** Returns the audit entries that the read model does not have yet, oldest first. */
  unprojectedHistory(limit: number): UnprojectedHistory {
    const { seq: afterSeq } = this.#sql.exec<{ seq: number }>('SELECT seq FROM projected').one();
    return { afterSeq, lines: this.history.lines(afterSeq, limit) };
  }

  /** Records a projection, unless all of it was enqueued again meanwhile. */
  recordProjected({ afterSeq, lines }: UnprojectedHistory, rows: readonly OutboxRow[]): void {
    const last = lines.at(-1);
    if (last !== undefined) this.#sql.exec('UPDATE projected SET seq = ? WHERE seq = ?', last.seq, afterSeq);
    for (const row of rows) {
      this.#sql.exec(
        "DELETE FROM outbox WHERE tx_id = ? AND job = 'project' AND version = ? AND due_at_ms = ?",
        row.transactionId,
        row.version,
        row.dueAtMs,
      );
    }
  }

  /** Enqueues a job, or renews it for the new version of the record. */
  enqueueJob({ transactionId, job, version, dueAtMs, tries }: OutboxRow): void {
    const put = 'INSERT OR REPLACE INTO outbox (tx_id, job, version, due_at_ms, tries) VALUES (?, ?, ?, ?, ?)';
    this.#sql.exec(put, transactionId, job, version, dueAtMs, tries);
  }

  /** Postpones a row unless it was renewed meanwhile. */
  postpone(row: OutboxRow, dueAtMs: number): void {
    this.#sql.exec(
      'UPDATE outbox SET due_at_ms = ?, tries = tries + 1 WHERE tx_id = ? AND job = ? AND version = ? AND tries = ?',
      dueAtMs,
      row.transactionId,
      row.job,
      row.version,
      row.tries,
    );
  }

  /** Makes each poll due now, unless it is due by `soonMs`. Two requests send no job twice. */
  pollRecordsNow(nowMs: number, soonMs: number): void {
    const poll = "UPDATE outbox SET due_at_ms = ? WHERE job IN ('follow', 'confirm') AND due_at_ms > ?";
    this.#sql.exec(poll, nowMs, soonMs);
  }

  completeJob(transactionId: string, job: OutboxJob): void {
    this.#sql.exec('DELETE FROM outbox WHERE tx_id = ? AND job = ?', transactionId, job);
  }

  queuedJob(transactionId: string, job: OutboxJob): OutboxRow | null {
    return this.#rows('WHERE tx_id = ? AND job = ?', transactionId, job)[0] ?? null;
  }

  due(nowMs: number, limit: number): readonly OutboxRow[] {
    return this.#rows("WHERE job <> 'project' AND due_at_ms <= ? ORDER BY due_at_ms LIMIT ?", nowMs, limit);
  }

  unprojected(limit: number): readonly OutboxRow[] {
    return this.#rows("WHERE job = 'project' LIMIT ?", limit);
  }

  /**
   * Returns when the first row is due, in Unix milliseconds, or null.
   *
   * @param projectFromMs when the projection is due, whatever its rows say; 0: as they say
   */
  nextDueAtMs(projectFromMs: number): number | null {
    const first = (condition: string) => `SELECT min(due_at_ms) AS due FROM outbox WHERE ${condition}`;
    const work = first("job <> 'project'");
    // Each half has an index; one minimum over both would read every row.
    const all = `SELECT min(due) AS due FROM (${work} UNION ALL ${first("job = 'project'")})`;
    const { due } = this.#sql.exec<{ due: number | null }>(projectFromMs === 0 ? all : work).one();
    return projectFromMs === 0 ? due : Math.min(due ?? projectFromMs, projectFromMs);
  }

  /** Enqueues the vault's own entry, and with it everything else that is not projected. */
  enqueueDirectory(dueAtMs: number): void {
    // The length of the history distinguishes rows of the same millisecond.
    this.enqueueJob({ transactionId: '', job: 'project', version: this.history.length(), dueAtMs, tries: 0 });
  }

  /** Enqueues the rest of the history, whose entries have no rows of their own. */
  enqueueHistory(dueAtMs: number): void {
    this.enqueueJob({ transactionId: HISTORY, job: 'project', version: 0, dueAtMs, tries: 0 });
  }

  /** Requeues the whole read model of this vault, and returns its size. */
  requeueProjection(nowMs: number): { readonly records: number; readonly lines: number } {
    const row = "'project', version, ?, 0";
    this.#sql.exec(`INSERT OR REPLACE INTO outbox SELECT id, ${row} FROM tx`, nowMs);
    const activities =
      "SELECT id, document ->> '$.version' AS version FROM activity WHERE document ->> '$.isOmitted' IS NOT 1";
    this.#sql.exec(`INSERT OR REPLACE INTO outbox SELECT id, ${row} FROM (${activities})`, nowMs);
    // A restored database can have records that were deleted since.
    const pruned = "SELECT tx_id AS id, 0 AS version FROM retention WHERE rule = 'pruned'";
    this.#sql.exec(`INSERT OR REPLACE INTO outbox SELECT id, ${row} FROM (${pruned})`, nowMs);
    this.enqueueDirectory(nowMs);
    // The number is below every entry, so a projection that runs now marks none as done.
    this.#sql.exec('UPDATE projected SET seq = min(seq, 0) - 1');
    const count = "SELECT count(*) AS records FROM outbox WHERE job = 'project' AND tx_id NOT IN ('', '${HISTORY}')";
    const { records } = this.#sql.exec<{ records: number }>(count).one();
    return { records, lines: this.history.length() };
  }

  #rows(clause: string, ...bindings: (string | number)[]): readonly OutboxRow[] {
    return this.#sql
      .exec<{ tx_id: string; job: string; version: number; due_at_ms: number; tries: number }>(
        `SELECT tx_id, job, version, due_at_ms, tries FROM outbox ${clause}`,
        ...bindings,
      )
      .toArray()
      .map((row) => ({
        transactionId: row.tx_id,
        job: jobIn(row.job),
        version: row.version,
        dueAtMs: row.due_at_ms,
        tries: row.tries,
      }));
  }
}

function jobIn(text: string): OutboxJob {
  if (isOutboxJob(text)) return text;
  throw new UnreadableState(`a row of the outbox has the unknown job ${text}`);
}
