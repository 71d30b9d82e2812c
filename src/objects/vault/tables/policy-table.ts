import { adoptedPolicyCodec, policyChangeCodec } from '#objects/vault/documents/policy-documents.ts';
import type { AssetRef } from '#domain/asset/exposure.ts';
import { feeIn } from '#domain/asset/exposure.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy, PolicyChange } from '#domain/policy/policy-change.ts';
import { MAX_POLICIES_AT_ONCE } from '#domain/policy/policy-change.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { DAY_MS } from '#domain/policy/rules.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';

/**
 * Proposals and decided spending have their own rows, so that pending ones are found and a day is
 * summed without reading the rest.
 */
export const POLICY_TABLES = `
  CREATE TABLE policy (version INTEGER PRIMARY KEY, document TEXT NOT NULL, hash TEXT NOT NULL UNIQUE);
  CREATE TABLE policy_change (id TEXT PRIMARY KEY, pending INTEGER NOT NULL CHECK (pending IN (0, 1)), hash TEXT NOT NULL, document TEXT NOT NULL);
  CREATE INDEX policy_change_pending ON policy_change (id) WHERE pending = 1;
  CREATE TABLE spent (tx_id TEXT NOT NULL, chain TEXT NOT NULL, token TEXT NOT NULL, amount TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (tx_id, token)) WITHOUT ROWID;
  CREATE INDEX spent_asset ON spent (chain, token, at_ms);
`;

/** The time of a spending that is not signed yet: it is never a day old. */
const UNTIL_DATED_MS = Number.MAX_SAFE_INTEGER;

/** Earlier builds dated a spending from the decision. */
export const UNDATED_SPENDING = `
  UPDATE spent SET at_ms = ${UNTIL_DATED_MS} WHERE tx_id IN (
    SELECT id FROM tx WHERE document ->> '$.state' = 'SIGNING' AND NOT EXISTS (
      SELECT 1 FROM json_each(document, '$.attempts') WHERE json_extract(value, '$.signed') IS NOT NULL
    )
  );
`;

/** Finds the spending of past days without reading that of today. */
export const SPENT_INDEX = 'CREATE INDEX spent_age ON spent (at_ms);';

/**
 * A co-signer takes 4 MB in one request. What it gets of a policy is at most twice as long as the
 * document: canonical bytes in hex, where the document has most of them twice, in UTF-8.
 */
const MAX_CARRIED_BYTES = 1_500_000;

/**
 * A vault object's storage of policies. Every write happens inside the object's `transactionSync`.
 */
export class PolicyStorage {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Yields every version, in order. A vault can have more than fit into memory at once. */
  *adopted(): Generator<AdoptedPolicy> {
    const rows = this.#sql.exec<{ document: string }>('SELECT document FROM policy ORDER BY version');
    for (const { document } of rows) yield adoptedPolicyCodec.decode(document);
  }

  /**
   * Returns the versions above this one, in order: at least one when there is one, and then as many
   * as a co-signer takes in one request.
   */
  adoptedAfter(version: number): readonly AdoptedPolicy[] {
    const query = `SELECT document, length(CAST(document AS BLOB)) AS bytes FROM policy
      WHERE version > ? ORDER BY version LIMIT ${MAX_POLICIES_AT_ONCE}`;
    const policies: AdoptedPolicy[] = [];
    let total = 0;
    for (const { document, bytes } of this.#sql.exec<{ document: string; bytes: number }>(query, version)) {
      total += bytes;
      if (policies.length > 0 && total > MAX_CARRIED_BYTES) break;
      policies.push(adoptedPolicyCodec.decode(document));
    }
    return policies;
  }

  /** Returns the versions below this one, the newest first. */
  adoptedBefore(version: number | null, limit: number): readonly AdoptedPolicy[] {
    const rows = this.#sql.exec<{ document: string }>(
      'SELECT document FROM policy WHERE version < ? ORDER BY version DESC LIMIT ?',
      version ?? Number.MAX_SAFE_INTEGER,
      limit,
    );
    return rows.toArray().map((row) => adoptedPolicyCodec.decode(row.document));
  }

  /** Returns the policy that was adopted as this version, or null. */
  adoptedAs(version: number): AdoptedPolicy | null {
    const [newest] = this.adoptedBefore(version + 1, 1);
    return newest?.policy.version === version ? newest : null;
  }

  /**
   * Returns the policy whose quorum decides on a change: the one in force, or for a renewal the one
   * before the version that it renews, because co-signers judge the mandate by that one. Version 1
   * has none before it, and its own signers found it.
   */
  deciderOver({ renewsVersion }: Pick<PolicyChange, 'renewsVersion'>, inForce: Policy): Policy {
    if (renewsVersion === undefined) return inForce;
    const before = this.adoptedAs(Math.max(renewsVersion - 1, 1));
    if (before === null) throw new Error('a renewal follows no adopted policy');
    return before.policy;
  }

  /** Replaces the mandate of an adopted policy. Another policy is not replaced. */
  renew(adopted: AdoptedPolicy, hash: string): void {
    this.#sql.exec(
      'UPDATE policy SET document = ? WHERE version = ? AND hash = ?',
      adoptedPolicyCodec.encode(adopted),
      adopted.policy.version,
      hash,
    );
  }

  /** Replaces version 1, which no co-signer has taken. */
  replaceDraft(policy: Policy, hash: string): void {
    this.#sql.exec('DELETE FROM policy WHERE version = ?', policy.version);
    this.adopt({ policy, mandate: null }, hash);
  }

  adopt(adopted: AdoptedPolicy, hash: string): void {
    this.#sql.exec(
      'INSERT INTO policy (version, document, hash) VALUES (?, ?, ?)',
      adopted.policy.version,
      adoptedPolicyCodec.encode(adopted),
      hash,
    );
  }

  change(id: string): PolicyChange | null {
    return this.#changes('WHERE id = ?', id)[0] ?? null;
  }

  /** Returns the pending change that would put the policy of this hash in force, or null. */
  pendingChangeTo(hash: string): PolicyChange | null {
    return this.#changes('WHERE pending = 1 AND hash = ?', hash)[0] ?? null;
  }

  /** Returns the oldest first. */
  pendingChanges(): readonly PolicyChange[] {
    return this.#changes('WHERE pending = 1 ORDER BY id');
  }

  /** Returns the newest first. */
  changesBefore(id: string | null, limit: number): readonly PolicyChange[] {
    // Above every id, which has only digits and capital letters after its prefix.
    return this.#changes('WHERE id < ? ORDER BY id DESC LIMIT ?', id ?? 'pch_~', limit);
  }

  /**
   * Stores a change.
   *
   * @param hash hash of the policy that it would put in force
   */
  putChange(change: PolicyChange, hash: string): void {
    this.#sql.exec(
      'INSERT OR REPLACE INTO policy_change (id, pending, hash, document) VALUES (?, ?, ?, ?)',
      change.id,
      change.state === 'PENDING' ? 1 : 0,
      hash,
      policyChangeCodec.encode(change),
    );
  }

  /**
   * Records the spending of a decided transaction for the daily limit. It counts until it is dated,
   * however long signing takes: otherwise it would leave beside the spending of the next day.
   */
  addSpent({ id, exposure }: Transaction, rules: Rules, nowMs: number): void {
    this.#sql.exec('DELETE FROM spent WHERE at_ms <= ?', nowMs - DAY_MS);
    const amounts = new Map<string, bigint>();
    if (rules.limitsIncludeFees === true) amounts.set('', feeIn(exposure));
    for (const { tokenAddress, amount } of exposure.movements) {
      amounts.set(tokenAddress ?? '', (amounts.get(tokenAddress ?? '') ?? 0n) + BigInt(amount));
    }
    for (const [token, amount] of amounts) {
      if (amount === 0n) continue;
      this.#sql.exec(
        'INSERT OR REPLACE INTO spent (tx_id, chain, token, amount, at_ms) VALUES (?, ?, ?, ?, ?)',
        id,
        exposure.chain,
        token,
        amount.toString(),
        UNTIL_DATED_MS,
      );
    }
  }

  /** Begins the 24 hours of a spending, at the first signature. */
  dateSpent(transactionId: string, atMs: number): void {
    const date = 'UPDATE spent SET at_ms = ? WHERE tx_id = ? AND at_ms = ?';
    this.#sql.exec(date, atMs, transactionId, UNTIL_DATED_MS);
  }

  /** Removes the spending of a transaction that never leaves the wallet. */
  removeSpent(transactionId: string): void {
    this.#sql.exec('DELETE FROM spent WHERE tx_id = ?', transactionId);
  }

  /** Returns the decided spending within the last 24 hours, in the asset's smallest unit. */
  spentOf(asset: AssetRef, nowMs: number): bigint {
    const rows = this.#sql.exec<{ amount: string }>(
      'SELECT amount FROM spent WHERE chain = ? AND token = ? AND at_ms > ?',
      asset.chain,
      asset.tokenAddress ?? '',
      nowMs - DAY_MS,
    );
    return [...rows].reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  }

  #changes(clause: string, ...bindings: (string | number)[]): readonly PolicyChange[] {
    const rows = this.#sql.exec<{ document: string }>(`SELECT document FROM policy_change ${clause}`, ...bindings);
    return rows.toArray().map((row) => policyChangeCodec.decode(row.document));
  }
}
