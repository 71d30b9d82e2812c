/**
 * The nonces of one wallet on one chain. There is no counter that could diverge from the chain: the
 * next nonce is the lowest one that is not below the chain's count and that no transaction owns.
 * Therefore the next transaction fills every gap.
 */
export interface NonceAllocations {
  /** Transaction id to the nonce that it owns. */
  readonly owned: ReadonlyMap<string, bigint>;
  /**
   * Every nonce below this is used permanently. Only a final inclusion raises it, and only a lower
   * proven count lowers it.
   */
  readonly floor: bigint;
  /**
   * Transactions that are about to release their nonce. Until they do or continue after all, no
   * transaction gets a nonce above it.
   */
  readonly leaving: ReadonlySet<string>;
}

/** Counts of the transactions of the wallet. */
interface Counts {
  /** The count in the chain. */
  readonly latest: bigint;
  /** The count including the mempool. */
  readonly pending: bigint;
}

/**
 * The part of each count that does not depend on a single answer: two RPC nodes or a final block
 * confirm it; null when nothing does.
 */
type ProvenCounts = { readonly [K in keyof Counts]: Counts[K] | null } & {
  /** The block that `latest` was counted at, or an earlier one. */
  readonly block: bigint;
};

/** The counts of one RPC node. */
export interface ChainCounts extends Counts {
  /** Absent when it was not requested. */
  readonly proven?: ProvenCounts;
  /** Where a nonce is a nonce slot; absent elsewhere. */
  readonly slots?: SlotChoice;
}

/** The order in which the free nonce slots of a wallet are allocated. */
interface SlotChoice {
  /** The number of slots. */
  readonly count: bigint;
  /** The slots that are open already, which come first. */
  readonly open: readonly bigint[];
  /** The slots whose last payment only one RPC node reports as final, which come last. */
  readonly unproven: readonly bigint[];
}

const NO_SLOTS: SlotChoice = { count: 0n, open: [], unproven: [] };

/** A nonce that the vault's record of a transaction names. */
export interface HeldNonce {
  readonly transactionId: string;
  readonly nonce: bigint;
}

export type Allocation =
  | { readonly book: NonceAllocations; readonly nonce: bigint }
  /**
   * It waits for a transaction that is about to release its nonce, which would leave a gap below.
   */
  | { readonly book: NonceAllocations; readonly nonce: null; readonly waitsFor: string }
  /** The counts include transactions that the allocator does not know, and they are not proven. */
  | { readonly book: NonceAllocations; readonly nonce: null; readonly waitsFor: null };

export const NO_ALLOCATIONS: NonceAllocations = { owned: new Map(), floor: 0n, leaving: new Set() };

/**
 * Returns the nonce of a transaction: its own, else the lowest that is not below the chain's count
 * and that no other owns.
 *
 * A count can exceed the known transactions after a restore of old storage, or by an error of an
 * RPC node. If a wrong count is believed, the transaction cannot reach the chain, because
 * everything below its nonce would have to be used first. If a right count is not believed, a nonce
 * that may be signed already is allocated again. Therefore only a proven count is believed, and
 * until then the transaction waits.
 */
export function allocate(
  before: NonceAllocations,
  transactionId: string,
  counts: ChainCounts,
  settledBlock = 0n,
): Allocation {
  const own = before.owned.get(transactionId);
  if (own !== undefined) return { book: cancelRelease(before, transactionId), nonce: own };
  const { latest, pending, proven, slots = NO_SLOTS } = counts;
  const book = lowerFloor(before, counts, settledBlock);
  if (book === null) return { book: before, nonce: null, waitsFor: null };
  const used = larger(book.floor, proven?.latest ?? 0n);
  const taken = new Set(book.owned.values());
  if (latest > lowestFree(taken, used)) return { book, nonce: null, waitsFor: null };
  const start = larger(larger(used, latest), proven?.pending ?? 0n);
  const nonce = chosenNonce(taken, start, slots);
  if (pending > nonce) return { book, nonce: null, waitsFor: null };
  const waitsFor = leavingBelow(book, nonce);
  if (waitsFor !== null) return { book, nonce: null, waitsFor };
  return { book: { ...book, owned: new Map(book.owned).set(transactionId, nonce) }, nonce };
}

/**
 * Returns the allocations with a floor no higher than a proven count. A floor that is too high,
 * after an inclusion that never happened, would leave the nonces below it unused, and all above
 * would wait for them. Returns null when the count is lower than the floor and no proof was
 * requested: most often the RPC node is a block behind.
 *
 * @param settledBlock the newest block with a retired transaction: an earlier count proves nothing
 *   about the floor
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
 * Returns the allocations with the nonces of the vault's transactions in flight. This changes
 * nothing unless the allocator's storage was reset to an older state: then two transactions would
 * get one nonce. A transaction that owns another's nonce here, and not in the vault, has no bytes
 * at it yet and loses it.
 */
export function restoreHeld(book: NonceAllocations, held: readonly HeldNonce[]): NonceAllocations {
  const missing = held.filter(({ transactionId, nonce }) => book.owned.get(transactionId) !== nonce);
  if (missing.length === 0) return book;
  const known = new Set(held.map(({ nonce }) => nonce));
  const others = [...book.owned].filter(([, nonce]) => !known.has(nonce));
  const inVault = held.map(({ transactionId, nonce }) => [transactionId, nonce] as const);
  // Of two in the vault at one nonce, which is an older fault, the first keeps it.
  const once = inVault.filter(([, nonce], i) => inVault.findIndex(([, other]) => other === nonce) === i);
  return { ...book, owned: new Map([...others, ...once]) };
}

/**
 * The blocker of a transaction: the lowest unused nonce and the transaction that owns it, null when
 * none does.
 */
export interface Blocker {
  readonly nonce: bigint;
  readonly transactionId: string | null;
}

/**
 * Returns what blocks the nonce of a transaction from being the chain's next one, or null when it
 * is the next or has none.
 */
export function blockerOf(book: NonceAllocations, transactionId: string, latest: bigint): Blocker | null {
  const own = book.owned.get(transactionId);
  const nonce = larger(book.floor, latest);
  if (own === undefined || nonce >= own) return null;
  const owner = [...book.owned].find(([, one]) => one === nonce);
  return { nonce, transactionId: owner?.[0] ?? null };
}

/**
 * Begins the release of a transaction that signed nothing, or whose bytes no RPC node accepted.
 * `mayGo` is false when others wait above its nonce: the nonce must be used, or none of them is
 * ever mined. Otherwise no transaction gets a nonce above it until its release.
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

/** Returns the allocations after the transaction continues. */
export function cancelRelease(book: NonceAllocations, transactionId: string): NonceAllocations {
  if (!book.leaving.has(transactionId)) return book;
  return { ...book, leaving: new Set([...book.leaving].filter((id) => id !== transactionId)) };
}

/**
 * Forgets a transaction that no block will ever include. Its nonce is allocated next unless the
 * chain has used it.
 */
export function release(book: NonceAllocations, transactionId: string): NonceAllocations {
  if (!book.owned.has(transactionId)) return book;
  const owned = new Map(book.owned);
  owned.delete(transactionId);
  return { ...cancelRelease(book, transactionId), owned };
}

/**
 * Forgets a transaction that a final block includes. Its nonce and all below are used permanently.
 */
export function retire(book: NonceAllocations, transactionId: string): NonceAllocations {
  const nonce = book.owned.get(transactionId);
  if (nonce === undefined) return book;
  return { ...release(book, transactionId), floor: larger(book.floor, nonce + 1n) };
}

function chosenNonce(taken: ReadonlySet<bigint>, start: bigint, { count, open, unproven }: SlotChoice): bigint {
  const free = (avoided: ReadonlySet<bigint>) =>
    open.find((one) => one >= start && !avoided.has(one)) ?? lowestFree(avoided, start);
  const proven = free(new Set([...taken, ...unproven]));
  return proven < count ? proven : free(taken);
}

/** Returns the lowest nonce, starting at `from`, that is not taken. */
function lowestFree(taken: ReadonlySet<bigint>, from: bigint): bigint {
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
