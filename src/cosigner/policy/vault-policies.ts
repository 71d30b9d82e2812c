import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import { readPolicy } from '#devices/policy-document.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { COSIGNER_SCHEMA } from '#cosigner/schema.ts';
import { createState, stateVersion } from '#store/object-schema.ts';

/** The policy that this co-signer chose last. */
export interface Choice {
  readonly version: number;
  readonly hash: string;
  /** Until then this co-signer chooses no other policy of this version. */
  readonly untilMs: number;
}

/** What the keys of a vault read of its policies. */
export interface VaultView {
  /** The policy in force. */
  readonly current: Policy;
  /** The policy of the requested version; null when the vault does not have it. */
  readonly named: Policy | null;
  /** False before the vault has a key at this co-signer: its policies can still be replaced. */
  readonly isPinned: boolean;
}

/** The object of a vault at this co-signer, as its keys call it. */
export interface CosignerVault {
  readonly policies: (version: number | null) => Promise<VaultView | null>;
  readonly pin: (head: { readonly version: number; readonly hash: string }) => Promise<Refused | null>;
}

/** Ours: a request names the policy in force and the one before, rarely an older one. */
const MAX_READ = 4;

/**
 * The policies of one vault that this co-signer adopted, in the storage of the vault's object. The
 * keys of the vault hold none, so all of them are always bound by the same policy.
 *
 * Documents are read one by one: a vault has had hundreds of policies, and reading one decompresses
 * the key of each of its devices. Nothing here awaits, so a comparison and the rows that follow
 * from it are one step of the object.
 */
export class VaultPolicies {
  readonly #sql: SqlStorage;
  readonly #read = new Map<number, Policy>();
  #revision = 0;
  #version: number | null = null;
  #isPinned: boolean | null = null;
  #created = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Changes with every write. A check that awaits compares it before it writes. */
  get revision(): number {
    return this.#revision;
  }

  /** Returns the version in force; 0 when there is none. */
  version(): number {
    this.#version ??= this.#exists()
      ? (this.#sql.exec<{ version: number | null }>('SELECT max(version) AS version FROM vault_policy').one().version ??
        0)
      : 0;
    return this.#version;
  }

  /** Returns the hash of a version, or null when the vault does not have it. */
  hashAt(version: number): string | null {
    if (!this.#exists()) return null;
    const rows = this.#sql.exec<{ hash: string }>('SELECT hash FROM vault_policy WHERE version = ?', version);
    return rows.toArray()[0]?.hash ?? null;
  }

  /** Returns a policy, or null when the vault does not have it. */
  at(version: number): Policy | null {
    const known = this.#read.get(version);
    if (known !== undefined) return known;
    if (!this.#exists()) return null;
    const query = 'SELECT document FROM vault_policy WHERE version = ?';
    const row = this.#sql.exec<{ document: string }>(query, version).toArray()[0];
    if (row === undefined) return null;
    const policy = readPolicy(hexToBytes(row.document));
    const oldest = this.#read.keys().next();
    if (this.#read.size >= MAX_READ && oldest.done !== true) this.#read.delete(oldest.value);
    this.#read.set(version, policy);
    return policy;
  }

  /** Reports whether the policies can only be extended from now on. */
  isPinned(): boolean {
    this.#isPinned ??= this.#exists() && this.#sql.exec('SELECT 1 FROM vault_pin').toArray().length > 0;
    return this.#isPinned;
  }

  choice(): Choice | null {
    if (!this.#exists()) return null;
    const rows = this.#sql.exec<{ version: number; hash: string; until_ms: number }>('SELECT * FROM vault_choice');
    const [row] = rows.toArray();
    return row === undefined ? null : { version: row.version, hash: row.hash, untilMs: row.until_ms };
  }

  /** Writes the choice, which replaces an earlier one. */
  putChoice(policy: Policy, untilMs: number): void {
    const known = this.choice();
    // A repeated request changes nothing, so it does not delay an adoption that waits.
    if (known?.hash === policyHashOf(policy) && known.untilMs === untilMs) return;
    this.#write();
    this.#sql.exec(
      'INSERT OR REPLACE INTO vault_choice (only_row, version, hash, until_ms) VALUES (0, ?, ?, ?)',
      policy.version,
      policyHashOf(policy),
      untilMs,
    );
  }

  /** Puts policies in force. They replace those of their versions and all later ones. */
  adopt(policies: readonly Policy[]): void {
    const [first] = policies;
    if (first === undefined) return;
    this.#write();
    this.#sql.exec('DELETE FROM vault_policy WHERE version >= ?', first.version);
    for (const policy of policies) {
      const document = bytesToHex(policyBytes(policy));
      const row = [policy.version, policyHashOf(policy), document];
      this.#sql.exec('INSERT INTO vault_policy (version, hash, document) VALUES (?, ?, ?)', ...row);
    }
    this.#read.clear();
    this.#version = null;
  }

  /** See `VaultView`. Returns null for a vault without a policy. */
  view(named: number | null): VaultView | null {
    const version = this.version();
    const current = this.at(version);
    if (current === null) return null;
    const isCurrent = named === null || named === version;
    return { current, named: isCurrent ? current : this.at(named), isPinned: this.isPinned() };
  }

  /**
   * Pins the policies for a new share of a key. Refuses `policy-mismatch` when another policy is in
   * force than the one that all co-signers agreed on.
   */
  pin(head: { readonly version: number; readonly hash: string }): Refused | null {
    if (this.version() !== head.version || this.hashAt(head.version) !== head.hash) {
      return refusal('policy-mismatch', 'vault');
    }
    this.#write();
    this.#sql.exec('INSERT OR IGNORE INTO vault_pin (only_row) VALUES (0)');
    this.#isPinned = true;
    return null;
  }

  /** Reading a vault that does not exist writes nothing. */
  #exists(): boolean {
    this.#created ||= stateVersion(this.#sql) > 0;
    return this.#created;
  }

  #write(): void {
    if (!this.#created) createState(this.#sql, COSIGNER_SCHEMA);
    this.#created = true;
    this.#revision += 1;
  }
}
