import { DurableObject } from 'cloudflare:workers';
import type { NonceBook } from '#domain/wallet-nonce.ts';
import { allocate, EMPTY_BOOK, release, settle } from '#domain/wallet-nonce.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS owned (transaction_id TEXT PRIMARY KEY, nonce TEXT NOT NULL UNIQUE) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS free (nonce TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS next (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), nonce TEXT NOT NULL);
`;

/**
 * The persistent nonce allocator of one wallet on one chain. Asked twice for the same transaction it gives the same nonce;
 * SQL refuses a nonce that two transactions would own.
 */
export class WalletNonceObject extends DurableObject<CoordinatorEnv> {
  constructor(ctx: DurableObjectState, env: CoordinatorEnv) {
    super(ctx, env);
    ctx.storage.sql.exec(SCHEMA);
  }

  /** Counts are those of the chain, as decimal text. */
  allocate(request: { readonly transactionId: string; readonly latest: string; readonly pending: string }): {
    readonly nonce: string;
  } {
    const counts = { latest: BigInt(request.latest), pending: BigInt(request.pending) };
    const { book, nonce } = allocate(this.#load(), request.transactionId, counts);
    this.#store(book);
    return { nonce: nonce.toString() };
  }

  /** For a transaction that failed before anything was sent. Idempotent. */
  release(request: { readonly transactionId: string }): void {
    this.#store(release(this.#load(), request.transactionId));
  }

  /** For a transaction whose nonce the chain has used for good. Idempotent. */
  settle(request: { readonly transactionId: string }): void {
    this.#store(settle(this.#load(), request.transactionId));
  }

  #load(): NonceBook {
    const { sql } = this.ctx.storage;
    const owned = sql.exec<{ transaction_id: string; nonce: string }>('SELECT transaction_id, nonce FROM owned');
    const free = sql.exec<{ nonce: string }>('SELECT nonce FROM free');
    const next = sql.exec<{ nonce: string }>('SELECT nonce FROM next').toArray()[0];
    return {
      owned: new Map([...owned].map((row) => [row.transaction_id, BigInt(row.nonce)])),
      free: new Set([...free].map((row) => BigInt(row.nonce))),
      next: next === undefined ? EMPTY_BOOK.next : BigInt(next.nonce),
    };
  }

  /** The book is as long as the wallet has transactions in flight: it is written whole. */
  #store(book: NonceBook): void {
    const { sql } = this.ctx.storage;
    this.ctx.storage.transactionSync(() => {
      sql.exec('DELETE FROM owned');
      for (const [id, nonce] of book.owned) {
        sql.exec('INSERT INTO owned (transaction_id, nonce) VALUES (?, ?)', id, nonce.toString());
      }
      sql.exec('DELETE FROM free');
      for (const nonce of book.free) sql.exec('INSERT INTO free (nonce) VALUES (?)', nonce.toString());
      sql.exec('INSERT OR REPLACE INTO next (only_row, nonce) VALUES (0, ?)', book.next.toString());
    });
  }
}
