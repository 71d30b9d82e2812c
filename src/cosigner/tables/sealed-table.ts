import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { LazyTables } from '#cosigner/tables/lazy-tables.ts';
import type { SealedRecord } from '#mpc/share.ts';
import { UnreadableState } from '#store/object-schema.ts';

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

/** The sealed shares of a key, or the sealed set-up of a pair. */
export class SealedTable {
  readonly #tables: LazyTables;
  /** There is no other writer, so the values below are read once. */
  #remembersSinceMs: number | null = null;
  #sealed: readonly StoredSignature[] | null = null;

  constructor(tables: LazyTables) {
    this.#tables = tables;
  }

  /** Returns the sealed record in use, or null. */
  inUse(): StoredShare | null {
    return this.all().findLast(({ isActive }) => isActive) ?? null;
  }

  /** Returns every sealed record, the newest last. */
  all(): readonly StoredSignature[] {
    this.#sealed ??= this.#tables.read<SealedRow>('SELECT * FROM sealed ORDER BY epoch').map((row) => ({
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
  put(stored: StoredShare & { readonly baseEpoch: number; readonly isActive: boolean }): void {
    const { kekId, salt, iv, ciphertext } = stored.record;
    this.#sealed = null;
    this.#tables.write(
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
    this.#tables.write(
      `INSERT OR REPLACE INTO memory (only_row, since_ms) SELECT 0, ? FROM sealed
       WHERE epoch = ? AND base_epoch > coalesce((SELECT max(epoch) FROM sealed WHERE is_active = 1), 0)`,
      nowMs,
      epoch,
    );
    this.#tables.write(
      'UPDATE sealed SET is_active = 1, receipts = ? WHERE epoch = ?',
      JSON.stringify(receipts),
      epoch,
    );
    this.#tables.write('DELETE FROM sealed WHERE epoch < ?', epoch);
  }

  /**
   * Returns the time since which this co-signer has a record of all that it signed; 0 for always.
   */
  remembersSinceMs(): number {
    this.#remembersSinceMs ??= this.#tables.read<{ since_ms: number }>('SELECT since_ms FROM memory')[0]?.since_ms ?? 0;
    return this.#remembersSinceMs;
  }

  /** Returns the newest epoch whose shares this co-signer confirmed to the others, or 0. */
  confirmedEpoch(): number {
    return this.#tables.read<{ epoch: number }>('SELECT epoch FROM confirmed')[0]?.epoch ?? 0;
  }

  confirmEpoch(epoch: number): void {
    this.#tables.write(
      'INSERT OR REPLACE INTO confirmed (only_row, epoch) VALUES (0, ?)',
      Math.max(epoch, this.confirmedEpoch()),
    );
  }

  /** Deletes the set-up of this pair. */
  deleteAll(): void {
    this.#sealed = null;
    this.#tables.write('DELETE FROM sealed');
  }
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
