/**
 * Nonces of one wallet on one chain. There is no free-running counter that could drift away from the chain: every nonce is
 * owned by a transaction, one that was given back is used first, and the chain's own count is the floor (peers.md P1).
 */
export interface NonceBook {
  /** Transaction id to the nonce that it owns. */
  readonly owned: ReadonlyMap<string, bigint>;
  /** Given back unused: a gap that blocks everything above it until somebody fills it. */
  readonly free: ReadonlySet<bigint>;
  /** Below this every nonce has been owned or given up. */
  readonly next: bigint;
  /** Transactions that are about to give theirs back: until they have, or go on after all, nobody gets one above it. */
  readonly leaving: ReadonlySet<string>;
}

export interface ChainCounts {
  /** Transactions of this address in the chain. */
  readonly latest: bigint;
  /** The same with the mempool. */
  readonly pending: bigint;
}

export const EMPTY_BOOK: NonceBook = { owned: new Map(), free: new Set(), next: 0n, leaving: new Set() };

/**
 * The nonce of a transaction: the one it has, else the lowest that was given back, else the next one; null while somebody is about to give one
 * back, which then would be a gap below it. After a restore of old storage the chain's pending count is ahead of the book, and wins.
 */
export function allocate(
  book: NonceBook,
  transactionId: string,
  counts: ChainCounts,
): { readonly book: NonceBook; readonly nonce: bigint | null } {
  const own = book.owned.get(transactionId);
  if (own !== undefined) return { book: stay(book, transactionId), nonce: own };
  const free = new Set([...book.free].filter((nonce) => nonce >= counts.latest));
  const lowest = [...free].reduce<bigint | null>(
    (least, nonce) => (least === null || nonce < least ? nonce : least),
    null,
  );
  if (lowest === null && book.leaving.size > 0) return { book, nonce: null };
  const nonce = lowest ?? larger(book.next, larger(counts.latest, counts.pending));
  free.delete(nonce);
  const owned = new Map(book.owned).set(transactionId, nonce);
  return { book: { ...book, owned, free, next: larger(book.next, nonce + 1n) }, nonce };
}

/**
 * A transaction that never signed anything is about to end. False when others wait above its nonce: it has to be used up, or none of them is
 * ever mined. Else nobody gets one above it until it is given back.
 */
export function leave(book: NonceBook, transactionId: string): { readonly book: NonceBook; readonly mayGo: boolean } {
  const own = book.owned.get(transactionId);
  if (own === undefined) return { book, mayGo: true };
  if ([...book.owned.values()].some((nonce) => nonce > own)) return { book, mayGo: false };
  return { book: { ...book, leaving: new Set(book.leaving).add(transactionId) }, mayGo: true };
}

/** It goes on after all. */
export function stay(book: NonceBook, transactionId: string): NonceBook {
  return { ...book, leaving: new Set([...book.leaving].filter((id) => id !== transactionId)) };
}

/** Takes a nonce back that will never be used: no signature over it was stored. */
export function release(book: NonceBook, transactionId: string): NonceBook {
  const nonce = book.owned.get(transactionId);
  if (nonce === undefined) return book;
  const after = { ...stay(book, transactionId), owned: without(book.owned, transactionId) };
  // The last one simply becomes the next again; one in the middle is a gap.
  if (nonce === book.next - 1n) return { ...after, next: nonce };
  return { ...after, free: new Set(book.free).add(nonce) };
}

/** Forgets a transaction whose nonce the chain has used for good. */
export function settle(book: NonceBook, transactionId: string): NonceBook {
  if (!book.owned.has(transactionId)) return book;
  return { ...stay(book, transactionId), owned: without(book.owned, transactionId) };
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function without(owned: ReadonlyMap<string, bigint>, transactionId: string): ReadonlyMap<string, bigint> {
  const rest = new Map(owned);
  rest.delete(transactionId);
  return rest;
}
