import type { Amount, SignedAmount } from '#domain/asset/amount.ts';
import { signedAmountOf, unitsOf } from '#domain/asset/amount.ts';
import type { Asset, BalanceChange } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';

/** The effect of one transaction on one asset of a wallet, including its fee. */
export interface BalanceLine extends Asset {
  readonly units: SignedAmount;
}

/** The entry of one transaction in the balances of its wallet. */
export interface Posting {
  readonly blockNumber: string;
  /** No reorg can remove the block any more. */
  readonly isFinal: boolean;
  readonly lines: readonly BalanceLine[];
}

/**
 * Returns the non-zero changes of each asset, with the fee included.
 *
 * @param fee null when another party pays it
 */
export function balanceLines(changes: readonly BalanceChange[], fee: Amount | null): readonly BalanceLine[] {
  const lines = changes.map(({ kind, tokenAddress, tokenId, units }) => ({ kind, tokenAddress, tokenId, units }));
  const paid = fee === null ? 0n : unitsOf(fee);
  const moved = lines.find(({ kind }) => kind === 'native');
  const native = { ...NATIVE, units: signedAmountOf((moved === undefined ? 0n : unitsOf(moved.units)) - paid) };
  return [native, ...lines.filter((line) => line !== moved)].filter(({ units }) => units !== '0');
}

/**
 * Why a balance was set to the chain's value when no known transaction explains the difference:
 *
 * - `OPENING`: it was there before the first scan of the wallet.
 * - `LATE_RECORD`: a transaction became known after its effect had already been adjusted for.
 * - `UNSEEN_PAYMENT`: native asset from a contract that the RPC node does not trace, or a reward or
 *   withdrawal of the chain itself.
 * - `CHANGED_BY_TOKEN`: the token changes balances without an event (a rebase, a fee on a
 *   transfer).
 */
export const ADJUSTMENT_REASONS = ['OPENING', 'LATE_RECORD', 'UNSEEN_PAYMENT', 'CHANGED_BY_TOKEN'] as const;
type AdjustmentReason = (typeof ADJUSTMENT_REASONS)[number];

/** A difference between balances and chain that was resolved with a reason. */
interface Adjustment {
  readonly units: SignedAmount;
  readonly reason: AdjustmentReason;
  /**
   * The last block at which both agreed (null when there was none), and the block at which they did
   * not.
   */
  readonly fromBlock: string | null;
  readonly toBlock: string;
  readonly atMs: number;
}

/** The chain's amount minus the recorded amount. */
interface Difference {
  readonly units: SignedAmount;
  /** Since when the difference has exactly this amount. */
  readonly sinceMs: number;
  /** Since when there has been any difference. */
  readonly differingSinceMs: number;
}

/** The balance of one asset of one wallet, in its smallest unit. */
export interface Balance extends Asset {
  /**
   * The sum of all final transactions and adjustments. It is negative while something is missing.
   */
  readonly final: SignedAmount;
  /**
   * Amounts of blocks that were already compared, of transactions that became known only
   * afterwards.
   */
  readonly late: SignedAmount;
  /** When recorded balance and chain last agreed, or were made to agree. */
  readonly check: { readonly blockNumber: string; readonly atMs: number } | null;
  /** Null while they agree. */
  readonly difference: Difference | null;
  /** The last adjustment. */
  readonly adjustment: Adjustment | null;
  /** The number of successive adjustments without an agreement in between. */
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

/** The chain's amount and the recorded amount of one asset at the same block. */
export interface Comparison {
  readonly blockNumber: string;
  readonly chainUnits: bigint;
  readonly recordedUnits: bigint;
  readonly atMs: number;
  /** The poll interval of the chain. The faster the chain is, the sooner a difference counts. */
  readonly pollIntervalMs: number;
  /**
   * A scan of its blocks was still open when the chain was read. The scan's results may explain the
   * difference.
   */
  readonly hasOpenScan: boolean;
  /** The wallet has transactions in flight. The chain may include them already. */
  readonly isMoving: boolean;
  /**
   * Amounts in the recorded balance from blocks that are not final. The chain may have reverted
   * them already.
   */
  readonly revocable: readonly bigint[];
}

/** A difference counts after this many polls, two minutes on Ethereum, and after any open scan. */
const SCAN_AFTER_POLLS = 20;
/** The number of polls between two comparisons: an hour on Ethereum. */
const COMPARISON_POLLS = 600;

/**
 * Returns the balance after a comparison; returns the same object when nothing changed. A
 * difference is first noted. When it stays the same until the scan is done, the balance is set to
 * the chain's value with a reason. For a wallet that is never at rest, the difference varies each
 * time, since chain and records do not learn of a transaction or of a removed block at the same
 * time. For such a wallet an hour of any difference is enough.
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
  // When the chain shows less, received units of a removed block may be what is missing. When it
  // shows more, sent units may be.
  if (isMoving || revocable.some((units) => units * by < 0n)) return false;
  return atMs - difference.sinceMs >= SCAN_AFTER_POLLS * pollIntervalMs;
}

function reasonOf({ check, late, kind }: Balance, difference: bigint): AdjustmentReason {
  if (late !== '0' && difference === -unitsOf(late)) return 'LATE_RECORD';
  if (check === null) return 'OPENING';
  return kind === 'native' ? 'UNSEEN_PAYMENT' : 'CHANGED_BY_TOKEN';
}

/**
 * Returns the time of the next comparison. A balance that never agrees, such as a rebasing token,
 * is compared less often, because each adjustment adds an entry to the history.
 */
export function nextComparisonMs(balance: Balance, nowMs: number, pollIntervalMs: number): number {
  const polls =
    balance.difference === null ? COMPARISON_POLLS * 2 ** Math.min(balance.adjustedInRow, 3) : SCAN_AFTER_POLLS;
  return nowMs + polls * pollIntervalMs;
}
