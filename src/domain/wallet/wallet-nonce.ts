/**
 * Nonces of one wallet on one chain. There is no counter that could drift away from the chain: the next nonce is the lowest
 * one that is not below the count of the chain and that no transaction owns, so every gap is filled by the next transaction.
 */
export interface NonceAllocations {
  /** Transaction id to the nonce that it owns. */
  readonly owned: ReadonlyMap<string, bigint>;
  /** Below this every nonce is used for good. A final inclusion alone raises it, and a lower proven count alone lowers it. */
  readonly floor: bigint;
  /** Transactions that are about to give theirs back: until they have, or go on after all, nobody gets one above it. */
  readonly leaving: ReadonlySet<string>;
}

/** Counts of the transactions of the wallet. */
interface Counts {
  /** In the chain. */
  readonly latest: bigint;
  /** The same with the mempool. */
  readonly pending: bigint;
}

/** Of each count what does not rest on a single answer: two RPC nodes say it, or a final block; null where that is nothing. */
type ProvenCounts = { readonly [K in keyof Counts]: Counts[K] | null } & {
  /** The block that `latest` was counted at, or an earlier one. */
  readonly block: bigint;
};

/** Counts of one RPC node. */
export interface ChainCounts extends Counts {
  /** Absent where it was not asked for. */
  readonly proven?: ProvenCounts;
  /** Where a nonce is a place: those that are open already, and given before others. None when absent. */
  readonly open?: readonly bigint[];
}

/** A nonce that the vault knows one of its transactions by. */
export interface HeldNonce {
  readonly transactionId: string;
  readonly nonce: bigint;
}

export type Allocation =
  | { readonly book: NonceAllocations; readonly nonce: bigint }
  /** Behind a transaction that is about to give its nonce back, which would be a gap below. */
  | { readonly book: NonceAllocations; readonly nonce: null; readonly waitsFor: string }
  /** The counts name transactions that the book does not know, and they are not proven. */
  | { readonly book: NonceAllocations; readonly nonce: null; readonly waitsFor: null };

export const NO_ALLOCATIONS: NonceAllocations = { owned: new Map(), floor: 0n, leaving: new Set() };

/**
 * The nonce of a transaction: the one it has, else the lowest that is not below the count of the chain and that no other owns.
 *
 * A count can be higher than the transactions that the book knows explain: after a restore of old storage, or because an RPC
 * node errs. A count that is believed wrongly costs the transaction its way to the chain (everything below its nonce would have
 * to be used first), and one that is wrongly not believed gives a nonce again that may be signed already. So only a proven one
 * is believed, and until then the transaction waits.
 */
export function allocate(
  before: NonceAllocations,
  transactionId: string,
  counts: ChainCounts,
  settledBlock = 0n,
): Allocation {
  const own = before.owned.get(transactionId);
  if (own !== undefined) return { book: cancelRelease(before, transactionId), nonce: own };
  const { latest, pending, proven, open = [] } = counts;
  const book = lowerFloor(before, counts, settledBlock);
  if (book === null) return { book: before, nonce: null, waitsFor: null };
  const used = larger(book.floor, proven?.latest ?? 0n);
  if (latest > lowestUnowned(book, used)) return { book, nonce: null, waitsFor: null };
  const start = larger(larger(used, latest), proven?.pending ?? 0n);
  const taken = new Set(book.owned.values());
  const nonce = open.find((one) => one >= start && !taken.has(one)) ?? lowestUnowned(book, start);
  if (pending > nonce) return { book, nonce: null, waitsFor: null };
  const waitsFor = leavingBelow(book, nonce);
  if (waitsFor !== null) return { book, nonce: null, waitsFor };
  return { book: { ...book, owned: new Map(book.owned).set(transactionId, nonce) }, nonce };
}

/**
 * The book whose floor is no higher than a proven count. A floor that is too high, after an inclusion that never was, would leave the
 * nonces below it unused, and all above would wait for them. Null where the count is lower than the floor and proof was not asked for: most
 * often the node is a block behind.
 *
 * @param settledBlock the newest block with a transaction that is settled: a count of before it proves nothing of the floor
 */
export function lowerFloor(
  book: NonceAllocations,
  { latest, proven }: ChainCounts,
  settledBlock: bigint,
): NonceAllocations | null {
  if (latest >= book.floor) return book;
  if (proven === undefined) return null;
  const isLower = proven.latest !== null && proven.latest < book.floor && proven.block >= settledBlock;
  return isLower ? { ...book, floor: proven.latest } : book;
}

/**
 * The book with the nonces of transactions that the vault knows to be under way. It changes nothing, but where the storage of
 * the book was set back: then two transactions would get one nonce. A transaction that has the nonce of another in the book,
 * and not in the vault, has no bytes at it yet, and loses it.
 */
export function restoreHeld(book: NonceAllocations, held: readonly HeldNonce[]): NonceAllocations {
  const missing = held.filter(({ transactionId, nonce }) => book.owned.get(transactionId) !== nonce);
  if (missing.length === 0) return book;
  const known = new Set(held.map(({ nonce }) => nonce));
  const others = [...book.owned].filter(([, nonce]) => !known.has(nonce));
  const inVault = held.map(({ transactionId, nonce }) => [transactionId, nonce] as const);
  // Of two in the vault at one nonce, which is a fault of before, the first one keeps it.
  const once = inVault.filter(([, nonce], i) => inVault.findIndex(([, other]) => other === nonce) === i);
  return { ...book, owned: new Map([...others, ...once]) };
}

/** What a transaction waits behind: the lowest unused nonce and the transaction that owns it, null where none does. */
export interface Blocker {
  readonly nonce: bigint;
  readonly transactionId: string | null;
}

/** What keeps the nonce of a transaction from being the next one of the chain; null for one that is the next, or has none. */
export function blockerOf(book: NonceAllocations, transactionId: string, latest: bigint): Blocker | null {
  const own = book.owned.get(transactionId);
  const nonce = larger(book.floor, latest);
  if (own === undefined || nonce >= own) return null;
  const owner = [...book.owned].find(([, one]) => one === nonce);
  return { nonce, transactionId: owner?.[0] ?? null };
}

/**
 * A transaction that never signed anything, or whose bytes no RPC node took, is about to end. False when others wait above its
 * nonce: it has to be used up, or none of them is ever mined. Else no other gets one above it until it is given back.
 */
export function reserveRelease(
  book: NonceAllocations,
  transactionId: string,
): { readonly book: NonceAllocations; readonly mayGo: boolean } {
  const own = book.owned.get(transactionId);
  if (own === undefined) return { book, mayGo: true };
  if ([...book.owned.values()].some((nonce) => nonce > own)) return { book, mayGo: false };
  return { book: { ...book, leaving: new Set(book.leaving).add(transactionId) }, mayGo: true };
}

/** It goes on after all. */
export function cancelRelease(book: NonceAllocations, transactionId: string): NonceAllocations {
  if (!book.leaving.has(transactionId)) return book;
  return { ...book, leaving: new Set([...book.leaving].filter((id) => id !== transactionId)) };
}

/** Forgets a transaction that no block will ever hold: its nonce is the next one, where the chain has not used it. */
export function release(book: NonceAllocations, transactionId: string): NonceAllocations {
  if (!book.owned.has(transactionId)) return book;
  const owned = new Map(book.owned);
  owned.delete(transactionId);
  return { ...cancelRelease(book, transactionId), owned };
}

/** Forgets a transaction that a final block holds: its nonce and all below are used for good. */
export function retire(book: NonceAllocations, transactionId: string): NonceAllocations {
  const nonce = book.owned.get(transactionId);
  if (nonce === undefined) return book;
  return { ...release(book, transactionId), floor: larger(book.floor, nonce + 1n) };
}

/** The lowest nonce from one on that no transaction owns. */
function lowestUnowned({ owned }: NonceAllocations, from: bigint): bigint {
  const taken = new Set(owned.values());
  let nonce = from;
  while (taken.has(nonce)) nonce += 1n;
  return nonce;
}

function leavingBelow({ owned, leaving }: NonceAllocations, nonce: bigint): string | null {
  return [...leaving].find((id) => (owned.get(id) ?? nonce) < nonce) ?? null;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
