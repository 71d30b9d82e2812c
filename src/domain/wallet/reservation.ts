import type { Amount } from '#domain/asset/amount.ts';
import { amountOf, unitsOf } from '#domain/asset/amount.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';

/**
 * The reason of a transaction that the balance of its wallet covers, but not beside the spending in
 * flight.
 */
export const FUNDS_IN_FLIGHT = 'FUNDS_IN_FLIGHT';

/** Balances of a wallet in the state after one block. Numbers are decimal texts. */
export interface Funds {
  readonly blockNumber: string;
  /**
   * The number of the wallet's transactions in the same state; null on a chain that does not count
   * them.
   */
  readonly nonceCount: string | null;
  /** The balance of each requested asset. */
  readonly holds: readonly AssetAmount[];
  /** The minimum balance of the native asset in an account that is not emptied. */
  readonly least: Amount;
}

/** The maximum spending of a transaction, and the balances that it was compared with. */
export interface Spending {
  readonly amounts: readonly AssetAmount[];
  readonly funds: Funds;
  /**
   * Where a nonce is a nonce slot: the slots that are open already, and the rent of opening one.
   */
  readonly positions?: { readonly open: readonly string[]; readonly rent: Amount };
}

/**
 * The spending in a transaction's record, and the block that includes it, as decimal text; null
 * without a block.
 */
export interface RecordedSpending {
  readonly transactionId: string;
  /** Nothing when absent. */
  readonly amounts?: readonly AssetAmount[];
  /** Null when absent. */
  readonly includedIn?: string | null;
}

/** The known transactions of a wallet that are in flight. */
export interface InFlight {
  /**
   * Each transaction that has a nonce. One without a nonce reserves nothing: no transaction ever
   * waits for one that waits itself.
   */
  readonly owned: ReadonlyMap<string, bigint>;
  /** The reservations of each transaction. */
  readonly reserved: ReadonlyMap<string, readonly AssetAmount[]>;
  /**
   * The vault's records. They include transactions that were in flight before reservations existed,
   * or before the allocator's storage was reset to an older state.
   */
  readonly recorded: readonly RecordedSpending[];
  /** The newest block with a transaction that is retired and no longer in flight. */
  readonly settledBlock: bigint;
}

export type ReservationDecision =
  /** The transaction's reservation from now on. */
  | { readonly outcome: 'reserved'; readonly amounts: readonly AssetAmount[] }
  /**
   * The balance does not cover it beside these transactions. Without other transactions there is
   * nothing to wait for.
   */
  | { readonly outcome: 'in-flight'; readonly others: readonly string[] }
  /**
   * The balances are older than a transaction that is no longer in flight: they may still include
   * its spending.
   */
  | { readonly outcome: 'stale' };

interface Reservation {
  readonly transactionId: string;
  readonly nonce: bigint;
  readonly amounts: readonly AssetAmount[];
  readonly includedIn: bigint | null;
}

/**
 * Returns the decision on a requested spending, by the balances and everything else in flight. It
 * reserves the larger of the earlier and the new spending of each asset, since an earlier attempt
 * can still be included. The earlier reservation is not checked again: a cancellation, which spends
 * no more than the payment, does not wait for funds.
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

/** The reservation and the record can differ after a restore of either: the larger one counts. */
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
    // A balance that was not requested is that of a token which is not spent now.
    if (held === undefined) return true;
    const taken = sumOf(inFlight, tokenAddress);
    const left = unitsOf(held.amount) - taken - unitsOf(amount);
    const least = tokenAddress === null ? unitsOf(funds.least) : 0n;
    // The order of execution in flight is unknown: nothing may be left only when there is no other
    // transaction.
    return left >= least || (left === 0n && taken === 0n);
  });
}

/**
 * Reports whether the balances already include the transaction, so that its spending is not
 * subtracted again.
 *
 * When the chain counts the nonces of an account, the count of the same state decides: every
 * transaction below it is in the balance, whichever of its attempts was included, and no other is.
 * The inclusion in the vault's record would be wrong after a reorg until the vault learns of it:
 * the balance has the money back while the record shows it as spent. Elsewhere (Solana) the
 * inclusion is compared with the slot of the balance, both at the commitment `confirmed`, which is
 * almost never undone. A transaction whose inclusion the vault does not know yet is subtracted
 * twice meanwhile: another one waits briefly, which is harmless.
 */
function isInBalance({ nonce, includedIn }: Reservation, { nonceCount, blockNumber }: Funds): boolean {
  if (nonceCount !== null) return nonce < BigInt(nonceCount);
  return includedIn !== null && includedIn <= BigInt(blockNumber);
}

/** Returns the larger amount of each asset. */
export function maxPerAsset(one: readonly AssetAmount[], other: readonly AssetAmount[]): readonly AssetAmount[] {
  const assets = new Set([...one, ...other].map(({ tokenAddress }) => tokenAddress));
  return [...assets].map((tokenAddress) => {
    const [a, b] = [sumOf(one, tokenAddress), sumOf(other, tokenAddress)];
    return { tokenAddress, amount: amountOf(a > b ? a : b) };
  });
}

/** Returns the spending with this much more of the native asset. */
export function plusRent(spending: Spending, rent: Amount): Spending {
  const native = amountOf(sumOf(spending.amounts, null) + unitsOf(rent));
  const tokens = spending.amounts.filter(({ tokenAddress }) => tokenAddress !== null);
  return { ...spending, amounts: [{ tokenAddress: null, amount: native }, ...tokens] };
}

/** Returns the sum of one asset, in its smallest unit. */
export function sumOf(movements: readonly AssetAmount[], tokenAddress: string | null): bigint {
  const ofAsset = movements.filter((one) => one.tokenAddress === tokenAddress);
  return ofAsset.reduce((sum, { amount }) => sum + unitsOf(amount), 0n);
}

/**
 * Reports whether undecided spending of other transactions may explain a missing amount. A reorg
 * returns that spending, so a payment does not fail before those transactions are retired. Without
 * an amount, any spending may explain it.
 */
export function mayBeReorged(missing: AssetAmount | undefined, undecided: readonly AssetAmount[]): boolean {
  if (missing === undefined) return undecided.length > 0;
  return sumOf(undecided, missing.tokenAddress) >= unitsOf(missing.amount);
}
