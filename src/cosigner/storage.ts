import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { VaultId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Commitment } from '#cosigner/commitment.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import { COSIGNER_SCHEMA } from '#cosigner/schema.ts';
import type { SealedRecord } from '#mpc/share.ts';
import { createState, stateVersion, UnreadableState } from '#store/object-schema.ts';

/** One row of the sign-once rule: the bytes that were signed for a transaction and an attempt. */
export interface SignedRecord {
  readonly transactionId: string;
  readonly attempt: number;
  readonly purpose: string;
  /** Lower-case hex, as the next field. */
  readonly intentDigest: string;
  readonly signingDigest: string;
  /** Decimal; null for a message, as the fees are. */
  readonly nonce: string | null;
  readonly maxFee: string | null;
  readonly maxTip: string | null;
}

/** Sessions last only minutes; a day leaves room for a clock that is set back. */
const SESSION_TTL_MS = 24 * 60 * 60 * 1000;
/** The most rows that one opening deletes, which bounds the time of the first one after years. */
const MAX_EXPIRED_AT_ONCE = 100;
/** The first opening after a start of the object deletes old rows, and then each 16th one. */
const PRUNE_EVERY = 16;

/** A sealed record with its public data. */
export interface StoredShare {
  /** The epoch of a share; 1 for the set-up of a pair. */
  readonly epoch: number;
  /** By the clock of this co-signer. */
  readonly madeAtMs: number;
  /** Hex: the id of a set-up, or the statement about a share that all co-signers signed. */
  readonly label: string;
  readonly record: SealedRecord;
}

/** A sealed record as it is stored. */
export interface StoredSignature extends StoredShare {
  readonly isActive: boolean;
  /** The receipts that activated it: co-signer number to hex. */
  readonly receipts: Readonly<Record<string, string>>;
}

interface SealedRow {
  readonly [column: string]: SqlStorageValue;
  readonly epoch: number;
  readonly is_active: number;
  readonly made_at_ms: number;
  readonly kek_id: string;
  readonly salt: string;
  readonly iv: string;
  readonly ciphertext: string;
  readonly label: string;
  /** JSON. */
  readonly receipts: string;
}

interface SignedRow {
  readonly [column: string]: SqlStorageValue;
  readonly tx_id: string;
  readonly attempt: number;
  readonly purpose: string;
  readonly intent_digest: string;
  readonly signing_digest: string;
  /** Null for a message, as the fees are. */
  readonly nonce: string | null;
  readonly max_fee: string | null;
  readonly max_tip: string | null;
}

/**
 * The rows of a co-signer. A row is written before the answer that it permits, and is never undone.
 */
export class CosignerStorage {
  readonly #sql: SqlStorage;
  #created = false;
  /** There is no other writer, so the values below are read once. */
  #vaultId: VaultId | null = null;
  #remembersSinceMs: number | null = null;
  #sealed: readonly StoredSignature[] | null = null;
  /** The number of sessions that this object opened since it was started. */
  #openings = 0;
  /** The step at which each banned identity was caught. */
  #bans: ReadonlyMap<string, string> | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Creates tables with the first write, so that reading what does not exist writes nothing. */
  #write(query: string, ...bindings: (string | number | null)[]): SqlStorageCursor<Record<string, SqlStorageValue>> {
    if (!this.#created) createState(this.#sql, COSIGNER_SCHEMA);
    this.#created = true;
    return this.#sql.exec(query, ...bindings);
  }

  #read<T extends Record<string, SqlStorageValue>>(query: string, ...bindings: (string | number)[]): T[] {
    this.#created ||= stateVersion(this.#sql) > 0;
    return this.#created ? this.#sql.exec<T>(query, ...bindings).toArray() : [];
  }

  /**
   * Stores a session id. Throws for a used id, which would repeat randomness. At times it deletes
   * rows older than a day. This frees no id, since each is a hash over 32 fresh bytes that are
   * deleted at the start of a session, and a session without its row can only end.
   */
  openSession(sid: Uint8Array, nowMs: number): void {
    this.#write('INSERT INTO session (sid, round, opened_at_ms) VALUES (?, 1, ?)', bytesToHex(sid), nowMs);
    if (this.#openings++ % PRUNE_EVERY > 0) return;
    this.#write(
      'DELETE FROM session WHERE sid IN (SELECT sid FROM session WHERE opened_at_ms < ? LIMIT ?)',
      nowMs - SESSION_TTL_MS,
      MAX_EXPIRED_AT_ONCE,
    );
  }

  /** Advances a session by exactly one round. Returns false when it is not in the round before. */
  advance(sid: Uint8Array, round: number): boolean {
    const moved = this.#write(
      'UPDATE session SET round = ? WHERE sid = ? AND round = ? RETURNING sid',
      round,
      bytesToHex(sid),
      round - 1,
    );
    return moved.toArray().length === 1;
  }

  /** Returns the sealed record in use, or null. */
  sealed(): StoredShare | null {
    return this.allSealed().findLast(({ isActive }) => isActive) ?? null;
  }

  /** Returns every sealed record, the newest last. */
  allSealed(): readonly StoredSignature[] {
    this.#sealed ??= this.#read<SealedRow>('SELECT * FROM sealed ORDER BY epoch').map((row) => ({
      epoch: row.epoch,
      madeAtMs: row.made_at_ms,
      label: row.label,
      isActive: row.is_active === 1,
      receipts: receiptsIn(row.receipts),
      record: {
        kekId: row.kek_id,
        salt: hexToBytes(row.salt),
        iv: hexToBytes(row.iv),
        ciphertext: hexToBytes(row.ciphertext),
      },
    }));
    return this.#sealed;
  }

  /** @param baseEpoch of the shares that it was dealt from; 0 when there were none */
  putSealed(stored: StoredShare & { readonly baseEpoch: number; readonly isActive: boolean }): void {
    const { kekId, salt, iv, ciphertext } = stored.record;
    this.#sealed = null;
    this.#write(
      'INSERT OR REPLACE INTO sealed (epoch, base_epoch, is_active, made_at_ms, kek_id, salt, iv, ciphertext, label) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      stored.epoch,
      stored.baseEpoch,
      stored.isActive ? 1 : 0,
      stored.madeAtMs,
      kekId,
      bytesToHex(salt),
      bytesToHex(iv),
      bytesToHex(ciphertext),
      stored.label,
    );
  }

  /**
   * Activates a waiting record by the receipts of all co-signers, and deletes older ones. A
   * co-signer that did not use the base record may lack records of older signatures.
   */
  activate(
    epoch: number,
    { receipts, nowMs }: { readonly receipts: StoredSignature['receipts']; readonly nowMs: number },
  ): void {
    this.#sealed = null;
    this.#remembersSinceMs = null;
    this.#write(
      `INSERT OR REPLACE INTO memory (only_row, since_ms) SELECT 0, ? FROM sealed
       WHERE epoch = ? AND base_epoch > coalesce((SELECT max(epoch) FROM sealed WHERE is_active = 1), 0)`,
      nowMs,
      epoch,
    );
    this.#write('UPDATE sealed SET is_active = 1, receipts = ? WHERE epoch = ?', JSON.stringify(receipts), epoch);
    this.#write('DELETE FROM sealed WHERE epoch < ?', epoch);
  }

  /**
   * Returns the time since which this co-signer has a record of all that it signed; 0 for always.
   */
  remembersSinceMs(): number {
    this.#remembersSinceMs ??= this.#read<{ since_ms: number }>('SELECT since_ms FROM memory')[0]?.since_ms ?? 0;
    return this.#remembersSinceMs;
  }

  /** Returns the newest epoch whose shares this co-signer confirmed to the others, or 0. */
  confirmedEpoch(): number {
    return this.#read<{ epoch: number }>('SELECT epoch FROM confirmed')[0]?.epoch ?? 0;
  }

  confirmEpoch(epoch: number): void {
    this.#write(
      'INSERT OR REPLACE INTO confirmed (only_row, epoch) VALUES (0, ?)',
      Math.max(epoch, this.confirmedEpoch()),
    );
  }

  /** Returns the vault of the key, whose object has the policies; null before there is a share. */
  vaultId(): VaultId | null {
    this.#vaultId ??= parseVaultId(this.#read<{ id: number }>('SELECT id FROM vault')[0]?.id ?? 0);
    return this.#vaultId;
  }

  /** Throws for a second vault. */
  putVaultId(vaultId: VaultId): void {
    if (this.vaultId() !== vaultId) this.#write('INSERT INTO vault (only_row, id) VALUES (0, ?)', vaultId);
  }

  /**
   * Applies the sign-once rule: one digest for each transaction, and further ones only as a
   * replacement or cancellation of the same intent, with its nonce and the fee increase of the
   * chain. So at most one is ever executed. Refuses `second-digest`. Writes the row when `record`
   * is true.
   */
  signOnce(
    transactionId: string,
    attempt: number,
    checked: Commitment & { readonly record: boolean },
  ): Result<null, Refused> {
    const digest = bytesToHex(checked.signingDigest);
    const near = this.#records('tx_id = ? OR signing_digest = ?', transactionId, digest);
    const rows = near.filter((row) => row.transactionId === transactionId);
    const same = rows.find((row) => row.attempt === attempt);
    if (same !== undefined) {
      const isSame = same.signingDigest === digest && same.intentDigest === checked.intentDigest;
      return isSame ? accepted(null) : refused(refusal('second-digest'));
    }
    // Bytes of one transaction are never signed for another: one payment would settle two. A
    // message may be signed again, since the signed words are the same.
    const elsewhere = near.filter((row) => row.signingDigest === digest);
    if (elsewhere.some(({ nonce }) => nonce !== null || checked.bid !== null)) return refused(refusal('second-digest'));
    const newest = rows.at(-1);
    if (!(newest === undefined ? begins(attempt, checked) : replaces(newest, attempt, checked))) {
      return refused(refusal('second-digest'));
    }
    if (checked.record) this.#writeSigned(recordOf(transactionId, attempt, checked));
    return accepted(null);
  }

  /**
   * Reports whether this co-signer committed to this intent by its own check. A row that others
   * attested does not count: they may lack the policy that revoked their approvals.
   */
  isRecorded(transactionId: string, intentDigest: string): boolean {
    const rows = this.#read<{ attempt: number }>('SELECT attempt FROM attested WHERE tx_id = ?', transactionId);
    const attested = new Set(rows.map(({ attempt }) => attempt));
    return this.signedFor(transactionId).some((row) => row.intentDigest === intentDigest && !attested.has(row.attempt));
  }

  /** Returns the signed or attested records of a transaction, in order. */
  signedFor(transactionId: string): readonly SignedRecord[] {
    return this.#records('tx_id = ?', transactionId);
  }

  /** Returns the signed or attested records under a condition, in the order of their attempts. */
  #records(condition: string, ...bindings: string[]): readonly SignedRecord[] {
    return this.#read<SignedRow>(
      `SELECT tx_id, attempt, purpose, intent_digest, signing_digest, nonce, max_fee, max_tip FROM signed WHERE ${condition} ORDER BY attempt`,
      ...bindings,
    ).map((row) => ({
      transactionId: row.tx_id,
      attempt: row.attempt,
      purpose: row.purpose,
      intentDigest: row.intent_digest,
      signingDigest: row.signing_digest,
      nonce: row.nonce,
      maxFee: row.max_fee,
      maxTip: row.max_tip,
    }));
  }

  /**
   * Stores an attested record as an own one. Returns false for other bytes than a row of this
   * attempt has, another nonce or intent than any row has, or the bytes of another transaction.
   */
  remember(record: SignedRecord): boolean {
    const { transactionId, attempt, signingDigest, intentDigest, nonce } = record;
    const rows = this.signedFor(transactionId);
    if (rows.some((row) => row.intentDigest !== intentDigest || row.nonce !== nonce)) return false;
    const same = rows.find((row) => row.attempt === attempt);
    if (same !== undefined) return same.signingDigest === signingDigest;
    if (nonce !== null && this.#records('signing_digest = ?', signingDigest).length > 0) return false;
    this.#writeSigned(record);
    this.#write('INSERT INTO attested (tx_id, attempt) VALUES (?, ?)', transactionId, attempt);
    return true;
  }

  #writeSigned(record: SignedRecord): void {
    const { transactionId, attempt, purpose, intentDigest, signingDigest, nonce, maxFee, maxTip } = record;
    this.#write(
      `INSERT INTO signed (tx_id, attempt, purpose, intent_digest, signing_digest, nonce, max_fee, max_tip) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      transactionId,
      attempt,
      purpose,
      intentDigest,
      signingDigest,
      nonce,
      maxFee,
      maxTip,
    );
  }

  /**
   * Returns the step at which the peer was caught cheating, or null. @param identity its public key
   */
  ban(identity: string): string | null {
    const read = () => this.#read<{ identity: string; step: string }>('SELECT identity, step FROM ban');
    this.#bans ??= new Map(read().map((row) => [row.identity, row.step]));
    return this.#bans.get(identity) ?? null;
  }

  putBan(identity: string, step: string, atMs: number): void {
    this.#bans = null;
    this.#write('INSERT OR IGNORE INTO ban (identity, step, at_ms) VALUES (?, ?, ?)', identity, step, atMs);
  }

  /** Deletes the set-up of this pair. */
  forgetSealed(): void {
    this.#sealed = null;
    this.#write('DELETE FROM sealed');
  }
}

/** Returns the sign-once row for checked bytes. */
export function recordOf(transactionId: string, attempt: number, checked: Commitment): SignedRecord {
  const { purpose, intentDigest, signingDigest, bid } = checked;
  return {
    transactionId,
    attempt,
    purpose,
    intentDigest,
    signingDigest: bytesToHex(signingDigest),
    nonce: bid?.nonce.toString() ?? null,
    maxFee: bid?.maxFee.toString() ?? null,
    maxTip: bid?.maxTip.toString() ?? null,
  };
}

/**
 * Reports whether these bytes may be the first. A cancellation may be: it frees the nonce for
 * others. Co-signers that signed something for it check against that, and any two groups share one.
 */
function begins(attempt: number, { bid, purpose }: Commitment): boolean {
  return purpose === 'cancellation' ? bid !== null : attempt === 1;
}

/** Reports whether bytes may replace the newest record. A cancelled intent is never executed. */
function replaces(newest: SignedRecord, attempt: number, { bid, intentDigest, purpose }: Commitment): boolean {
  if (newest.purpose === 'cancellation' && purpose === 'intent') return false;
  const { nonce, maxFee, maxTip } = newest;
  if (bid === null || nonce === null) return false;
  const enough = (before: string | null, now: bigint) =>
    before !== null && now * 100n >= BigInt(before) * bid.minRisePercent;
  return (
    attempt === newest.attempt + 1 &&
    intentDigest === newest.intentDigest &&
    bid.nonce === BigInt(nonce) &&
    enough(maxFee, bid.maxFee) &&
    enough(maxTip, bid.maxTip)
  );
}

/** Parses the receipts of a share. Throws `UnreadableState` for JSON of another shape. */
function receiptsIn(text: string): StoredSignature['receipts'] {
  try {
    const receipts: unknown = JSON.parse(text);
    if (isTextRecord(receipts)) return receipts;
  } catch {
    // It is no JSON.
  }
  throw new UnreadableState('the receipts of a stored share are damaged');
}

function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((text) => typeof text === 'string');
}
