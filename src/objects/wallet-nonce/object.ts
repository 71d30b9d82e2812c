import { DurableObject } from 'cloudflare:workers';
import type { Amount } from '#domain/asset/amount.ts';
import { parseAmount, unitsOf } from '#domain/asset/amount.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';
import type { InFlight, RecordedSpending, Spending, ReservationDecision } from '#domain/wallet/reservation.ts';
import type { CountTexts } from '#domain/wallet/count-texts.ts';
import { countsIn } from '#domain/wallet/count-texts.ts';
import { decideReservation, plusRent } from '#domain/wallet/reservation.ts';
import type { HeldNonce, NonceAllocations } from '#domain/wallet/wallet-nonce.ts';
import {
  restoreHeld,
  allocate,
  blockerOf,
  lowerFloor,
  NO_ALLOCATIONS,
  reserveRelease,
  release,
  retire,
  cancelRelease,
} from '#domain/wallet/wallet-nonce.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';
import type { ObjectSchema } from '#store/object-schema.ts';
import { createState, UnreadableState, upgradeState } from '#store/object-schema.ts';

const TABLES = `
  CREATE TABLE owned (transaction_id TEXT PRIMARY KEY, nonce TEXT NOT NULL UNIQUE) WITHOUT ROWID;
  CREATE TABLE coin (coin TEXT PRIMARY KEY, transaction_id TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE leaving (transaction_id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE ended (transaction_id TEXT PRIMARY KEY, at_ms INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE reserved (
    transaction_id TEXT NOT NULL, asset TEXT NOT NULL, amount TEXT NOT NULL, PRIMARY KEY (transaction_id, asset)
  ) WITHOUT ROWID;
  CREATE TABLE settled (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), block_number TEXT NOT NULL);
  CREATE TABLE floor (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), nonce TEXT NOT NULL);
`;

/** The state of a wallet's nonces. See `ObjectSchema` before you change it. */
export const WALLET_NONCE_SCHEMA: ObjectSchema = { name: 'wallet nonce', migrations: [(sql) => void sql.exec(TABLES)] };

/** Stands for the native asset in the table `reserved`. */
const NATIVE = '';

/**
 * How late a consumer may come with a transaction that is over. None runs longer than a quarter of
 * an hour.
 */
const REMEMBERED_MS = 7 * 24 * 60 * 60 * 1000;

export interface AllocationRequest extends CountTexts {
  readonly transactionId: string;
  /** The vault's records of its transactions in flight; none when absent. */
  readonly held?: readonly HeldSlot[];
  /** The number of the wallet's nonce slots; absent where account nonces are counted. */
  readonly slots?: number;
  /** The transaction's spending and the balances; absent on UTXO chains. */
  readonly spending?: Spending;
}

/** A transaction in flight, by the record of its vault. */
export interface HeldSlot extends RecordedSpending {
  readonly nonce: string;
  /**
   * Another transaction may have its nonce, when no other slot is free. Its spending still counts.
   * False when absent.
   */
  readonly isReleased?: boolean;
}

interface Ending {
  readonly transactionId: string;
  readonly isSpent: boolean;
  readonly includedIn?: string | null;
  readonly keepsCoins?: boolean;
}

export interface ReservationRequest {
  readonly transactionId: string;
  readonly held: readonly HeldSlot[];
  readonly spending: Spending;
}

/** Why nothing is reserved (see `decideReservation`). */
export type ReservationFault =
  | { readonly nonce: null; readonly why: 'stale' }
  | { readonly nonce: null; readonly why: 'in-flight'; readonly others: readonly string[] };

export type AllocationResult =
  /** `reserved`: its maximum spending from now on, of each asset; absent on UTXO chains. */
  | { readonly nonce: string; readonly reserved?: readonly AssetAmount[] }
  | ReservationFault
  /**
   * `over`: this transaction has ended. `unproven`: the counts include unknown transactions and
   * need proof.
   */
  | { readonly nonce: null; readonly why: 'over' | 'unproven' }
  /** Behind a transaction that is about to end. */
  | { readonly nonce: null; readonly why: 'behind'; readonly waitsFor: string };

/**
 * The persistent nonce allocator of one wallet on one chain. A repeated request of a transaction
 * returns the same nonce, and SQL refuses a nonce with two owners. On UTXO chains it stores which
 * transaction has claimed which UTXO.
 */
export class WalletNonceObject extends DurableObject<CoordinatorConfig> {
  constructor(ctx: DurableObjectState, env: CoordinatorConfig) {
    super(ctx, env);
    upgradeState(ctx.storage, WALLET_NONCE_SCHEMA);
    createState(ctx.storage.sql, WALLET_NONCE_SCHEMA);
  }

  /**
   * Returns the nonce of a transaction (see `allocate` of the domain), or why there is none yet.
   * Idempotent.
   */
  allocate(request: AllocationRequest): AllocationResult {
    const { transactionId, held = [] } = request;
    if (this.#hasEnded(transactionId)) return { nonce: null, why: 'over' };
    const known = held.filter((one) => !this.#hasEnded(one.transactionId));
    const before = this.#load();
    const whole = withHeld(before, known);
    const counts = { ...countsIn(request), slots: slotsIn(request, known) };
    const allocation = allocate(whole, transactionId, counts, this.#settledBlock());
    if (allocation.nonce === null) {
      if (allocation.book !== before) this.#store(allocation.book);
      const { waitsFor } = allocation;
      return waitsFor === null ? { nonce: null, why: 'unproven' } : { nonce: null, why: 'behind', waitsFor };
    }
    const nonce = allocation.nonce.toString();
    if (request.spending === undefined) {
      if (allocation.book !== before) this.#store(allocation.book);
      return { nonce };
    }
    const spending = atSlot(request.spending, nonce);
    const weighed = decideReservation(this.#inFlight(allocation.book, known), transactionId, spending);
    // A transaction that waits for funds gets no nonce: no other transaction ever waits for it.
    const book = weighed.outcome === 'reserved' ? allocation.book : whole;
    this.#keep(transactionId, weighed, { before, book });
    return weighed.outcome === 'reserved' ? { nonce, reserved: weighed.amounts } : unreserved(weighed);
  }

  /**
   * Reserves the spending of a further attempt of a transaction that already has its nonce. Returns
   * null, or why it failed. A transaction that had ended and is undone by a reorg is not checked
   * again. Idempotent.
   */
  reserve({ transactionId, held, spending }: ReservationRequest): ReservationFault | null {
    if (this.#hasEnded(transactionId)) return null;
    const known = held.filter((one) => !this.#hasEnded(one.transactionId));
    const before = this.#load();
    const book = withHeld(before, known);
    const weighed = decideReservation(this.#inFlight(book, known), transactionId, spending);
    this.#keep(transactionId, weighed, { before, book });
    return weighed.outcome === 'reserved' ? null : unreserved(weighed);
  }

  #keep(
    transactionId: string,
    weighed: ReservationDecision,
    { before, book }: Record<'before' | 'book', NonceAllocations>,
  ): void {
    this.ctx.storage.transactionSync(() => {
      if (book !== before) this.#store(book);
      if (weighed.outcome === 'reserved') this.#reserve(transactionId, weighed.amounts);
    });
  }

  #inFlight({ owned }: NonceAllocations, recorded: readonly HeldSlot[]): InFlight {
    // A transaction can still spend its amounts, whichever transaction has its nonce now.
    const held = recorded.map(({ transactionId, nonce }) => [transactionId, BigInt(nonce)] as const);
    const all = new Map([...held, ...owned]);
    return { owned: all, reserved: this.#reservations(), recorded, settledBlock: this.#settledBlock() };
  }

  /**
   * Returns the newest block with a retired transaction, as decimal text: earlier balances do not
   * count.
   */
  settledBlock(): string {
    return this.#settledBlock().toString();
  }

  /**
   * Lowers a settled block that is ahead of every block of the chain and thus invalid. Idempotent.
   *
   * @param head decimal text
   */
  lowerSettledBlock({ head }: { readonly head: string }): void {
    if (this.#settledBlock() > BigInt(head)) this.#settleAt(head);
  }

  #settleAt(block: string): void {
    this.ctx.storage.sql.exec('INSERT OR REPLACE INTO settled (only_row, block_number) VALUES (0, ?)', block);
  }

  #settledBlock(): bigint {
    const { sql } = this.ctx.storage;
    const row = sql.exec<{ block_number: string }>('SELECT block_number FROM settled').toArray()[0];
    return row === undefined ? 0n : unitsOf(storedNumber(row.block_number));
  }

  #reservations(): ReadonlyMap<string, readonly AssetAmount[]> {
    const { sql } = this.ctx.storage;
    const rows = sql.exec<{ transaction_id: string; asset: string; amount: string }>(
      'SELECT transaction_id, asset, amount FROM reserved',
    );
    const all = new Map<string, AssetAmount[]>();
    for (const { transaction_id: id, asset, amount } of rows) {
      const movement = { tokenAddress: asset === NATIVE ? null : asset, amount: storedNumber(amount) };
      all.set(id, [...(all.get(id) ?? []), movement]);
    }
    return all;
  }

  #reserve(transactionId: string, amounts: readonly AssetAmount[]): void {
    const { sql } = this.ctx.storage;
    for (const { tokenAddress, amount } of amounts) {
      const row = [transactionId, tokenAddress ?? NATIVE, amount];
      sql.exec('INSERT OR REPLACE INTO reserved (transaction_id, asset, amount) VALUES (?, ?, ?)', ...row);
    }
  }

  /**
   * Returns what a transaction waits behind (see `blockerOf`), or null. `unproven`: the counts are
   * below the floor and need proof.
   */
  blocker({
    transactionId,
    ...texts
  }: CountTexts & { readonly transactionId: string }): { readonly transactionId: string | null } | 'unproven' | null {
    const before = this.#load();
    const counts = countsIn(texts);
    const book = lowerFloor(before, counts, this.#settledBlock());
    if (book === null) return 'unproven';
    if (book !== before) this.#store(book);
    const blocker = blockerOf(book, transactionId, counts.latest);
    return blocker === null ? null : { transactionId: blocker.transactionId };
  }

  /** Returns the UTXOs that a transaction must not spend. */
  claimedByOthers({ transactionId }: { readonly transactionId: string }): readonly string[] {
    const { sql } = this.ctx.storage;
    const rows = sql.exec<{ coin: string }>('SELECT coin FROM coin WHERE transaction_id <> ?', transactionId);
    return [...rows].map(({ coin: utxo }) => utxo);
  }

  /**
   * Claims all of these UTXOs for a transaction, or none: returns false when another has one, or
   * this one has ended. Earlier claims stay for the attempt that spends them. Idempotent.
   */
  claim({ transactionId, utxos }: { readonly transactionId: string; readonly utxos: readonly string[] }): boolean {
    const { sql } = this.ctx.storage;
    const others = new Set(this.claimedByOthers({ transactionId }));
    if (this.#hasEnded(transactionId)) return false;
    if (utxos.some((utxo) => others.has(utxo))) return false;
    this.ctx.storage.transactionSync(() => {
      for (const utxo of utxos) {
        sql.exec('INSERT OR IGNORE INTO coin (coin, transaction_id) VALUES (?, ?)', utxo, transactionId);
      }
    });
    return true;
  }

  /**
   * Reports whether a transaction that signed nothing may end without using its nonce (see
   * `reserveRelease`). Idempotent.
   */
  reserveRelease(request: { readonly transactionId: string }): boolean {
    const before = this.#load();
    const { book, mayGo } = reserveRelease(before, request.transactionId);
    if (book !== before) this.#store(book);
    return mayGo;
  }

  /** Continues a transaction after all. Idempotent. */
  cancelRelease(request: { readonly transactionId: string }): void {
    const before = this.#load();
    const book = cancelRelease(before, request.transactionId);
    if (book !== before) this.#store(book);
  }

  /** Releases the nonce of a transaction that must wait for a nonce slot. Idempotent. */
  release(request: { readonly transactionId: string }): void {
    this.ctx.storage.sql.exec('DELETE FROM coin WHERE transaction_id = ?', request.transactionId);
    this.#store(release(this.#load(), request.transactionId));
  }

  /**
   * Ends a transaction: its nonce is used permanently or becomes the next one. A late consumer gets
   * nothing more for it, because that would never be released. Idempotent.
   *
   * With `keepsCoins`, no other payment gets its UTXOs until it is ended without: it may still be
   * included or continue.
   *
   * @param isSpent a final block includes it, and its nonce is not used again
   * @param includedIn the block that includes it, as decimal text; null or absent without one
   */
  end({ transactionId, isSpent, includedIn = null, keepsCoins = false }: Ending): void {
    const { sql } = this.ctx.storage;
    if (keepsCoins) {
      this.#store(release(this.#load(), transactionId));
      return;
    }
    const nowMs = Date.now();
    this.ctx.storage.transactionSync(() => {
      sql.exec('INSERT OR REPLACE INTO ended (transaction_id, at_ms) VALUES (?, ?)', transactionId, nowMs);
      sql.exec('DELETE FROM ended WHERE at_ms < ?', nowMs - REMEMBERED_MS);
      if (includedIn !== null && BigInt(includedIn) > this.#settledBlock()) this.#settleAt(includedIn);
      if (isSpent) this.#store(retire(this.#load(), transactionId));
      else this.release({ transactionId });
    });
  }

  #hasEnded(transactionId: string): boolean {
    const known = this.ctx.storage.sql.exec('SELECT 1 FROM ended WHERE transaction_id = ?', transactionId);
    return known.toArray().length > 0;
  }

  #load(): NonceAllocations {
    const { sql } = this.ctx.storage;
    const owned = sql.exec<{ transaction_id: string; nonce: string }>('SELECT transaction_id, nonce FROM owned');
    const leaving = sql.exec<{ transaction_id: string }>('SELECT transaction_id FROM leaving');
    const floor = sql.exec<{ nonce: string }>('SELECT nonce FROM floor').toArray()[0];
    return {
      owned: new Map([...owned].map((row) => [row.transaction_id, unitsOf(storedNumber(row.nonce))])),
      floor: floor === undefined ? NO_ALLOCATIONS.floor : unitsOf(storedNumber(floor.nonce)),
      leaving: new Set([...leaving].map((row) => row.transaction_id)),
    };
  }

  /**
   * Writes the allocations as a whole: they are as many as the wallet has transactions in flight.
   */
  #store(book: NonceAllocations): void {
    const { sql } = this.ctx.storage;
    this.ctx.storage.transactionSync(() => {
      sql.exec('DELETE FROM owned');
      for (const [id, nonce] of book.owned) {
        sql.exec('INSERT INTO owned (transaction_id, nonce) VALUES (?, ?)', id, nonce.toString());
      }
      sql.exec('DELETE FROM leaving');
      for (const id of book.leaving) sql.exec('INSERT INTO leaving (transaction_id) VALUES (?)', id);
      sql.exec('INSERT OR REPLACE INTO floor (only_row, nonce) VALUES (0, ?)', book.floor.toString());
      // A transaction without a nonce reserves nothing.
      sql.exec('DELETE FROM reserved WHERE transaction_id NOT IN (SELECT transaction_id FROM owned)');
    });
  }
}

/** Refuses what `BigInt` accepts beside decimal text: an empty text would be the nonce 0. */
function storedNumber(text: string): Amount {
  const number = parseAmount(text);
  if (number === null) throw new UnreadableState('a stored number of a wallet is damaged');
  return number;
}

function unreserved(weighed: Exclude<ReservationDecision, { readonly outcome: 'reserved' }>): ReservationFault {
  return weighed.outcome === 'stale'
    ? { nonce: null, why: 'stale' }
    : { nonce: null, why: 'in-flight', others: weighed.others };
}

/**
 * Returns the allocations by the vault's records: with every held nonce, and without released ones.
 */
function withHeld(book: NonceAllocations, held: readonly HeldSlot[]): NonceAllocations {
  const freed = held.filter(isReleased).reduce((rest, { transactionId }) => release(rest, transactionId), book);
  return restoreHeld(freed, held.filter((one) => !isReleased(one)).map(slotIn));
}

function isReleased({ isReleased: released = false }: HeldSlot): boolean {
  return released;
}

function slotsIn({ slots = 0, spending }: AllocationRequest, held: readonly HeldSlot[]) {
  const open = spending?.positions?.open.map(BigInt) ?? [];
  return { count: BigInt(slots), open, unproven: held.filter(isReleased).map(({ nonce }) => BigInt(nonce)) };
}

function slotIn({ transactionId, nonce }: HeldSlot): HeldNonce {
  return { transactionId, nonce: BigInt(nonce) };
}

/**
 * Returns the spending of a transaction with this nonce: it opens a nonce slot that is not open.
 */
function atSlot(spending: Spending, nonce: string): Spending {
  const { positions } = spending;
  return positions === undefined || positions.open.includes(nonce) ? spending : plusRent(spending, positions.rent);
}
