import type { Amount, SignedAmount } from '#domain/asset/amount.ts';
import { signedAmountOf, unitsOf } from '#domain/asset/amount.ts';
import type { Asset, BalanceChange } from '#domain/activity/movement.ts';
import { NATIVE } from '#domain/activity/movement.ts';

/** What one transaction did to one asset of a wallet, its fee included. */
export interface BalanceLine extends Asset {
  readonly units: SignedAmount;
}

/** What one transaction posts to the ledger of its wallet. */
export interface Posting {
  readonly blockNumber: string;
  /** Beyond any reorganisation. */
  readonly isFinal: boolean;
  readonly lines: readonly BalanceLine[];
}

/** @param fee null where somebody else pays it */
export function balanceLines(changes: readonly BalanceChange[], fee: Amount | null): readonly BalanceLine[] {
  const lines = changes.map(({ kind, tokenAddress, tokenId, units }) => ({ kind, tokenAddress, tokenId, units }));
  const paid = fee === null ? 0n : unitsOf(fee);
  const moved = lines.find(({ kind }) => kind === 'native');
  const native = { ...NATIVE, units: signedAmountOf((moved === undefined ? 0n : unitsOf(moved.units)) - paid) };
  return [native, ...lines.filter((line) => line !== moved)].filter(({ units }) => units !== '0');
}

/**
 * Why a balance was set to what the chain says, where no transaction that is known explains it:
 *
 * `OPENING`            it was there before the wallet was first looked at
 * `LATE_RECORD`        a transaction that came to be known afterwards had been made up for before
 * `UNSEEN_PAYMENT`     of the native asset: a contract that the node does not trace, a reward or a withdrawal of the chain itself
 * `CHANGED_BY_TOKEN`   the token gives and takes without saying so (a rebase, a fee out of a transfer)
 */
export const ADJUSTMENT_REASONS = ['OPENING', 'LATE_RECORD', 'UNSEEN_PAYMENT', 'CHANGED_BY_TOKEN'] as const;
type AdjustmentReason = (typeof ADJUSTMENT_REASONS)[number];

/** A difference between ledger and chain that is explained, and no more there. */
interface Adjustment {
  readonly units: SignedAmount;
  readonly reason: AdjustmentReason;
  /** The last block at which both agreed, null when there was none, and the one at which they did not. */
  readonly fromBlock: string | null;
  readonly toBlock: string;
  readonly atMs: number;
}

/** What the chain says more than the ledger, or less. */
interface Difference {
  readonly units: SignedAmount;
  /** Since when it is exactly so much. */
  readonly sinceMs: number;
  /** Since when there is any. */
  readonly differingSinceMs: number;
}

/** One asset of one wallet, in its smallest unit. */
export interface Balance extends Asset {
  /** What all final transactions and the adjustments come to. Less than nothing while something is missing. */
  readonly final: SignedAmount;
  /** Of blocks at which ledger and chain were compared already, but known only since. */
  readonly late: SignedAmount;
  /** When they agreed, or were made to. */
  readonly check: { readonly blockNumber: string; readonly atMs: number } | null;
  /** Null while they agree. */
  readonly difference: Difference | null;
  /** The last one. */
  readonly adjustment: Adjustment | null;
  /** Adjustments one after the other, with no agreement in between. */
  readonly adjustedInRow: number;
}

export function newBalance(asset: Asset): Balance {
  const nothing = signedAmountOf(0n);
  const { kind, tokenAddress, tokenId } = asset;
  return {
    kind,
    tokenAddress,
    tokenId,
    final: nothing,
    late: nothing,
    check: null,
    difference: null,
    adjustment: null,
    adjustedInRow: 0,
  };
}

/** What chain and ledger say of one asset at the same block. */
export interface Comparison {
  readonly blockNumber: string;
  readonly chainUnits: bigint;
  readonly recordedUnits: bigint;
  readonly atMs: number;
  /** Of the chain: the faster it moves, the sooner a difference counts. */
  readonly pollIntervalMs: number;
  /** A look through its blocks had not come to its end before the chain was asked: what it finds may explain the difference. */
  readonly hasOpenScan: boolean;
  /** Transactions of its own are on their way: the chain may have them already. */
  readonly isMoving: boolean;
  /** Counted in the ledger's, of blocks that may still go: the chain may have taken them back already. */
  readonly revocable: readonly bigint[];
}

/** A difference is looked into for so many polls, two minutes on Ethereum, and for as long as the look takes, before it is believed. */
const SCAN_AFTER_POLLS = 20;
/** Between two comparisons: an hour on Ethereum. */
const COMPARISON_POLLS = 600;

/**
 * The balance after a comparison; the same object when it says nothing new. A difference is noted first; when it is still there, and still
 * the same, after it was looked into, the ledger is set to what the chain says, and why is kept. Of a wallet that is never at rest the
 * difference is another one each time, since chain and ledger do not learn of a transaction at once, nor of a block that is gone: there an
 * hour of differing is enough.
 */
export function compare(balance: Balance, comparison: Comparison): Balance {
  const { blockNumber, chainUnits, recordedUnits, atMs } = comparison;
  if (balance.check !== null && BigInt(blockNumber) < BigInt(balance.check.blockNumber)) return balance;
  const agreed = { check: { blockNumber, atMs }, late: signedAmountOf(0n), difference: null };
  const units = signedAmountOf(chainUnits - recordedUnits);
  if (units === '0') return { ...balance, ...agreed, adjustedInRow: 0 };
  const noted = balance.difference ?? { units, sinceMs: atMs, differingSinceMs: atMs };
  const difference = noted.units === units ? noted : { ...noted, units, sinceMs: atMs };
  if (!isBelieved(difference, comparison)) {
    return difference === balance.difference ? balance : { ...balance, difference };
  }
  const reason = reasonOf(balance, chainUnits - recordedUnits);
  const adjustment = { units, reason, fromBlock: balance.check?.blockNumber ?? null, toBlock: blockNumber, atMs };
  const final = signedAmountOf(unitsOf(balance.final) + unitsOf(units));
  return { ...balance, ...agreed, final, adjustment, adjustedInRow: balance.adjustedInRow + 1 };
}

function isBelieved(difference: Difference, comparison: Comparison): boolean {
  const { atMs, pollIntervalMs, hasOpenScan, isMoving, revocable } = comparison;
  if (hasOpenScan) return false;
  if (atMs - difference.differingSinceMs >= COMPARISON_POLLS * pollIntervalMs) return true;
  const by = unitsOf(difference.units);
  // Where the chain says less, what came in a block that is gone may be what is missing; where it says more, what went.
  if (isMoving || revocable.some((units) => units * by < 0n)) return false;
  return atMs - difference.sinceMs >= SCAN_AFTER_POLLS * pollIntervalMs;
}

function reasonOf({ check, late, kind }: Balance, difference: bigint): AdjustmentReason {
  if (late !== '0' && difference === -unitsOf(late)) return 'LATE_RECORD';
  if (check === null) return 'OPENING';
  return kind === 'native' ? 'UNSEEN_PAYMENT' : 'CHANGED_BY_TOKEN';
}

/** What never agrees, as tokens that grow by themselves, is compared less often: each time is a line in the history. */
export function nextComparisonMs(balance: Balance, nowMs: number, pollIntervalMs: number): number {
  const polls =
    balance.difference === null ? COMPARISON_POLLS * 2 ** Math.min(balance.adjustedInRow, 3) : SCAN_AFTER_POLLS;
  return nowMs + polls * pollIntervalMs;
}
