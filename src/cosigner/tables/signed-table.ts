import { bytesToHex } from '@noble/hashes/utils.js';
import type { Commitment } from '#cosigner/commitment.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import type { LazyTables } from '#cosigner/tables/lazy-tables.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

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

/** What a co-signer has signed, and what others have attested: the rows of the sign-once rule. */
export class SignedTable {
  readonly #tables: LazyTables;

  constructor(tables: LazyTables) {
    this.#tables = tables;
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
    if (checked.record) this.#insert(recordOf(transactionId, attempt, checked));
    return accepted(null);
  }

  /**
   * Reports whether this co-signer committed to this intent by its own check. A row that others
   * attested does not count: they may lack the policy that revoked their approvals.
   */
  isRecorded(transactionId: string, intentDigest: string): boolean {
    const rows = this.#tables.read<{ attempt: number }>('SELECT attempt FROM attested WHERE tx_id = ?', transactionId);
    const attested = new Set(rows.map(({ attempt }) => attempt));
    return this.recordsOf(transactionId).some((row) => row.intentDigest === intentDigest && !attested.has(row.attempt));
  }

  /** Returns the signed or attested records of a transaction, in order. */
  recordsOf(transactionId: string): readonly SignedRecord[] {
    return this.#records('tx_id = ?', transactionId);
  }

  /** Returns the signed or attested records under a condition, in the order of their attempts. */
  #records(condition: string, ...bindings: string[]): readonly SignedRecord[] {
    return this.#tables
      .read<SignedRow>(
        `SELECT tx_id, attempt, purpose, intent_digest, signing_digest, nonce, max_fee, max_tip FROM signed WHERE ${condition} ORDER BY attempt`,
        ...bindings,
      )
      .map((row) => ({
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
    const rows = this.recordsOf(transactionId);
    if (rows.some((row) => row.intentDigest !== intentDigest || row.nonce !== nonce)) return false;
    const same = rows.find((row) => row.attempt === attempt);
    if (same !== undefined) return same.signingDigest === signingDigest;
    if (nonce !== null && this.#records('signing_digest = ?', signingDigest).length > 0) return false;
    this.#insert(record);
    this.#tables.write('INSERT INTO attested (tx_id, attempt) VALUES (?, ?)', transactionId, attempt);
    return true;
  }

  #insert(record: SignedRecord): void {
    const { transactionId, attempt, purpose, intentDigest, signingDigest, nonce, maxFee, maxTip } = record;
    this.#tables.write(
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
