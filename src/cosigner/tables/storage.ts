import { LazyTables } from '#cosigner/tables/lazy-tables.ts';
import { SealedTable } from '#cosigner/tables/sealed-table.ts';
import { SignedTable } from '#cosigner/tables/signed-table.ts';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { VaultId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';

/** Sessions last only minutes; a day leaves room for a clock that is set back. */
const SESSION_TTL_MS = 24 * 60 * 60 * 1000;
/** The most rows that one opening deletes, which bounds the time of the first one after years. */
const MAX_EXPIRED_AT_ONCE = 100;
/** The first opening after a start of the object deletes old rows, and then each 16th one. */
const PRUNE_EVERY = 16;

/**
 * The rows of a co-signer. A row is written before the answer that it permits, and is never undone.
 */
export class CosignerStorage {
  readonly sealed: SealedTable;
  readonly signed: SignedTable;
  readonly #tables: LazyTables;
  /** There is no other writer, so the values below are read once. */
  #vaultId: VaultId | null = null;
  /** The number of sessions that this object opened since it was started. */
  #openings = 0;
  /** The step at which each banned identity was caught. */
  #bans: ReadonlyMap<string, string> | null = null;

  constructor(sql: SqlStorage) {
    this.#tables = new LazyTables(sql);
    this.sealed = new SealedTable(this.#tables);
    this.signed = new SignedTable(this.#tables);
  }

  /**
   * Stores a session id. Throws for a used id, which would repeat randomness. At times it deletes
   * rows older than a day. This frees no id, since each is a hash over 32 fresh bytes that are
   * deleted at the start of a session, and a session without its row can only end.
   */
  openSession(sid: Uint8Array, nowMs: number): void {
    this.#tables.write('INSERT INTO session (sid, round, opened_at_ms) VALUES (?, 1, ?)', bytesToHex(sid), nowMs);
    if (this.#openings++ % PRUNE_EVERY > 0) return;
    this.#tables.write(
      'DELETE FROM session WHERE sid IN (SELECT sid FROM session WHERE opened_at_ms < ? LIMIT ?)',
      nowMs - SESSION_TTL_MS,
      MAX_EXPIRED_AT_ONCE,
    );
  }

  /** Advances a session by exactly one round. Returns false when it is not in the round before. */
  advance(sid: Uint8Array, round: number): boolean {
    const moved = this.#tables.write(
      'UPDATE session SET round = ? WHERE sid = ? AND round = ? RETURNING sid',
      round,
      bytesToHex(sid),
      round - 1,
    );
    return moved.toArray().length === 1;
  }

  /** Returns the vault of the key, whose object has the policies; null before there is a share. */
  vaultId(): VaultId | null {
    this.#vaultId ??= parseVaultId(this.#tables.read<{ id: number }>('SELECT id FROM vault')[0]?.id ?? 0);
    return this.#vaultId;
  }

  /** Throws for a second vault. */
  putVaultId(vaultId: VaultId): void {
    if (this.vaultId() !== vaultId) this.#tables.write('INSERT INTO vault (only_row, id) VALUES (0, ?)', vaultId);
  }

  /**
   * Returns the step at which the peer was caught cheating, or null. @param identity its public key
   */
  ban(identity: string): string | null {
    const read = () => this.#tables.read<{ identity: string; step: string }>('SELECT identity, step FROM ban');
    this.#bans ??= new Map(read().map((row) => [row.identity, row.step]));
    return this.#bans.get(identity) ?? null;
  }

  putBan(identity: string, step: string, atMs: number): void {
    this.#bans = null;
    this.#tables.write('INSERT OR IGNORE INTO ban (identity, step, at_ms) VALUES (?, ?, ?)', identity, step, atMs);
  }
}
