import type { Amount } from '#domain/asset/amount.ts';
import { amountOf, unitsOf } from '#domain/asset/amount.ts';
import type { AssetAmount } from '#domain/transaction/exposure.ts';

/** The reason of a transaction that fits into the balance of its wallet, but not beside what others of it may still take. */
export const FUNDS_IN_FLIGHT = 'FUNDS_IN_FLIGHT';

/** Balances of a wallet in the state after one block. Numbers are decimal texts. */
export interface Funds {
  readonly blockNumber: string;
  /** Transactions of the wallet in the same state; null on a chain that does not count them. */
  readonly nonceCount: string | null;
  /** Of each asset that was asked for. */
  readonly holds: readonly AssetAmount[];
  /** What an account of the native asset has to keep, unless it keeps nothing at all. */
  readonly least: Amount;
}

/** What a transaction takes at most, and the balances that it was weighed against. */
export interface Spending {
  readonly amounts: readonly AssetAmount[];
  readonly funds: Funds;
  /** Where a nonce is an account: those that are open already, and the rent of one that is opened. */
  readonly positions?: { readonly open: readonly string[]; readonly rent: Amount };
}

/** What the record of a transaction says that it takes, and the block that holds it, as decimal text; null for none. */
export interface RecordedSpending {
  readonly transactionId: string;
  /** Nothing when absent. */
  readonly amounts?: readonly AssetAmount[];
  /** Null when absent. */
  readonly includedIn?: string | null;
}

/** What is known of the transactions of a wallet that are in flight. */
export interface InFlight {
  /** Each transaction that has a nonce. What has none takes nothing: no transaction ever waits for one that waits itself. */
  readonly owned: ReadonlyMap<string, bigint>;
  /** What each has reserved. */
  readonly reserved: ReadonlyMap<string, readonly AssetAmount[]>;
  /** By the vault: it knows what the wallet had in flight before anything was reserved, or before a book was set back. */
  readonly recorded: readonly RecordedSpending[];
  /** The newest block with a transaction that is settled, and in flight no more. */
  readonly settledBlock: bigint;
}

export type ReservationDecision =
  /** What the transaction reserves from now on. */
  | { readonly outcome: 'reserved'; readonly amounts: readonly AssetAmount[] }
  /** The balance does not hold it beside these transactions; without any there is nothing to wait for. */
  | { readonly outcome: 'in-flight'; readonly others: readonly string[] }
  /** The balances are older than a transaction that is in flight no more: they may still have what that one took. */
  | { readonly outcome: 'stale' };

interface Reservation {
  readonly transactionId: string;
  readonly nonce: bigint;
  readonly amounts: readonly AssetAmount[];
  readonly includedIn: bigint | null;
}

/**
 * Weighs what a transaction wants against the balances and all that is in flight beside it. It reserves, of each asset, the
 * larger of what it reserved before and what it wants, since an earlier attempt can still be the one that is carried out. What
 * was reserved before is not weighed again: a cancellation, which takes no more than the payment did, does not wait for money.
 */
export function decideReservation(
  inFlight: InFlight,
  transactionId: string,
  { amounts, funds }: Spending,
): ReservationDecision {
  const before = amountsIn(inFlight, transactionId);
  const requested = maxPerAsset(before, amounts);
  const grows = requested.some(({ tokenAddress, amount }) => unitsOf(amount) > sumOf(before, tokenAddress));
  if (!grows) return { outcome: 'reserved', amounts: requested };
  if (BigInt(funds.blockNumber) < inFlight.settledBlock) return { outcome: 'stale' };
  const others = othersIn(inFlight, transactionId);
  return isCovered(requested, funds, others)
    ? { outcome: 'reserved', amounts: requested }
    : { outcome: 'in-flight', others: others.map((one) => one.transactionId) };
}

/** What is reserved and what the record says can differ after a restore of either: the larger one counts. */
function amountsIn({ reserved, recorded }: InFlight, transactionId: string): readonly AssetAmount[] {
  const record = recorded.find((one) => one.transactionId === transactionId);
  return maxPerAsset(reserved.get(transactionId) ?? [], record?.amounts ?? []);
}

function othersIn(inFlight: InFlight, transactionId: string): readonly Reservation[] {
  return [...inFlight.owned].flatMap(([id, nonce]) => {
    const amounts = id === transactionId ? [] : amountsIn(inFlight, id);
    if (amounts.length === 0) return [];
    const includedIn = inFlight.recorded.find((one) => one.transactionId === id)?.includedIn ?? null;
    return [{ transactionId: id, nonce, amounts, includedIn: includedIn === null ? null : BigInt(includedIn) }];
  });
}

function isCovered(requested: readonly AssetAmount[], funds: Funds, others: readonly Reservation[]): boolean {
  const inFlight = others.filter((one) => !isInBalance(one, funds)).flatMap(({ amounts }) => amounts);
  return requested.every(({ tokenAddress, amount }) => {
    const held = funds.holds.find((one) => one.tokenAddress === tokenAddress);
    // A balance that was not asked for is that of a token which no one says is taken now.
    if (held === undefined) return true;
    const taken = sumOf(inFlight, tokenAddress);
    const left = unitsOf(held.amount) - taken - unitsOf(amount);
    const least = tokenAddress === null ? unitsOf(funds.least) : 0n;
    // Nobody knows in which order those in flight are carried out: nothing may be left only when there is no other.
    return left >= least || (left === 0n && taken === 0n);
  });
}

/**
 * Reports whether the balances are those after the transaction, so that what it took is not subtracted again.
 *
 * Where the chain counts the nonces of an account, the count of the same state decides: every transaction below it is in the
 * balance, whichever of its attempts it was, and no other is. The inclusion in the record of the vault would be wrong after a
 * reorganisation until the vault learns of it: then the balance has the money back and the record says that it is spent.
 * Elsewhere (Solana) the inclusion is compared with the slot of the balance, both at the commitment `confirmed`, which is as
 * good as never undone. A transaction whose inclusion the vault does not know yet is subtracted twice for as long as that
 * takes: another one waits for a moment, which is harmless.
 */
function isInBalance({ nonce, includedIn }: Reservation, { nonceCount, blockNumber }: Funds): boolean {
  if (nonceCount !== null) return nonce < BigInt(nonceCount);
  return includedIn !== null && includedIn <= BigInt(blockNumber);
}

/** Of each asset the larger amount. */
export function maxPerAsset(one: readonly AssetAmount[], other: readonly AssetAmount[]): readonly AssetAmount[] {
  const assets = new Set([...one, ...other].map(({ tokenAddress }) => tokenAddress));
  return [...assets].map((tokenAddress) => {
    const [a, b] = [sumOf(one, tokenAddress), sumOf(other, tokenAddress)];
    return { tokenAddress, amount: amountOf(a > b ? a : b) };
  });
}

/** The spending with this much more of the native asset. */
export function plusRent(spending: Spending, rent: Amount): Spending {
  const native = amountOf(sumOf(spending.amounts, null) + unitsOf(rent));
  const tokens = spending.amounts.filter(({ tokenAddress }) => tokenAddress !== null);
  return { ...spending, amounts: [{ tokenAddress: null, amount: native }, ...tokens] };
}

/** All of one asset together, in its smallest unit. */
export function sumOf(movements: readonly AssetAmount[], tokenAddress: string | null): bigint {
  const ofAsset = movements.filter((one) => one.tokenAddress === tokenAddress);
  return ofAsset.reduce((sum, { amount }) => sum + unitsOf(amount), 0n);
}

/**
 * Reports whether what a balance is short of may be what other transactions took that are undecided: a reorganisation gives it
 * back, so a payment is not failed for it before they are settled. Without an amount, any that takes something may.
 */
export function mayBeReorged(missing: AssetAmount | undefined, undecided: readonly AssetAmount[]): boolean {
  if (missing === undefined) return undecided.length > 0;
  return sumOf(undecided, missing.tokenAddress) >= unitsOf(missing.amount);
}
