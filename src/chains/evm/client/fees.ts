import type { Chain } from '#domain/asset/chain.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/** Prices of EIP-1559, in wei per gas. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** What a chain's row says of tips. */
export type TipRow = Pick<Chain, 'minTip'>;

/** geth's miner takes nothing below 0.001 gwei (its default since 1.14), and a tip of zero is refused by most pools. */
const DEFAULT_MIN_TIP = 1_000_000n;

/** Gas of a payment to an account without code: exact, and what a wallet that is emptied to the last wei needs. */
const PLAIN_PAYMENT_GAS = 21_000n;

/**
 * Prices that survive the time from here to a block. Twice the base fee outlasts five full blocks in a row (it grows by an eighth
 * with each); the chain gives back what it does not take.
 *
 * @param suggestedTip what the node or the last blocks suggest, or null
 */
export function feesFor({ minTip }: TipRow, baseFeePerGas: bigint, suggestedTip: bigint | null): Fees {
  const lowest = minTip === undefined ? DEFAULT_MIN_TIP : BigInt(minTip);
  const tip = suggestedTip === null || suggestedTip < lowest ? lowest : suggestedTip;
  return { maxFeePerGas: 2n * baseFeePerGas + tip, maxPriorityFeePerGas: tip };
}

/** What blocks of late have been paid, in wei per gas; null where nobody knows. */
export interface Tips {
  readonly suggested: bigint | null;
  /** A tenth of the gas paid less. */
  readonly low: bigint | null;
  /** A tenth of the gas paid more. */
  readonly high: bigint | null;
}

/** Prices for who can wait, for most, and for who can not. `normal` is what signing itself would take. */
export function feeTiers(
  row: TipRow,
  baseFeePerGas: bigint,
  tips: Tips,
): { readonly slow: Fees; readonly normal: Fees; readonly fast: Fees } {
  const normal = feesFor(row, baseFeePerGas, tips.suggested);
  const { maxPriorityFeePerGas: tip } = normal;
  const cheap = feesFor(row, baseFeePerGas, tips.low).maxPriorityFeePerGas;
  const slowTip = cheap < tip ? cheap : tip;
  // Half as much again where nobody pays more than is suggested: it has to be faster than normal.
  const fastTip = larger(tips.high ?? 0n, tip + tip / 2n);
  return {
    // One full block may pass before its price is too low; it then waits, and is not lost.
    slow: { maxFeePerGas: dividedUp(baseFeePerGas * 9n, 8n) + slowTip, maxPriorityFeePerGas: slowTip },
    normal,
    fast: { maxFeePerGas: 2n * baseFeePerGas + fastTip, maxPriorityFeePerGas: fastTip },
  };
}

/** Nodes take a replacement only when BOTH prices are a tenth higher (geth's PriceBump); an eighth and one wei is safely more. */
export function replacementFees(fresh: Fees, replaced: Fees): Fees {
  return {
    maxFeePerGas: larger(fresh.maxFeePerGas, raised(replaced.maxFeePerGas)),
    maxPriorityFeePerGas: larger(fresh.maxPriorityFeePerGas, raised(replaced.maxPriorityFeePerGas)),
  };
}

/** The words of geth, and of the nodes of Polygon and BSC that come from it. Wei per gas have at most 30 digits. */
const TIP_NEEDED = /gas tip cap \d+, minimum needed (\d{1,30})\b|tip needed (\d{1,30}), tip permitted \d+/;

/**
 * The least tip that a node names when it refuses an attempt as too cheap; null where it names none. Steps of an eighth would take
 * some eighty rounds of signing from a tip of nothing to one of 25 gwei. What it names is weighed against the cap as any other price.
 */
export function tipNeeded(sent: Attempt['sent']): bigint | null {
  const named = sent?.outcome === 'underpriced' ? TIP_NEEDED.exec(sent.answer?.toLowerCase() ?? '') : null;
  const digits = named?.[1] ?? named?.[2];
  return digits === undefined ? null : BigInt(digits);
}

/** The prices with at least this tip; what is offered for the base fee stays as it is. */
export function withMinTip({ maxFeePerGas, maxPriorityFeePerGas }: Fees, least: bigint | null): Fees {
  const tip = larger(maxPriorityFeePerGas, least ?? 0n);
  return { maxFeePerGas: maxFeePerGas + tip - maxPriorityFeePerGas, maxPriorityFeePerGas: tip };
}

/** EIP-7825: no transaction on Ethereum has more gas. Chains without the rule may estimate more. */
const MAX_TRANSACTION_GAS = 2n ** 24n;

/**
 * A quarter above the estimate: a token's cost changes with the balances that other transactions leave behind. The margin alone
 * never crosses the limit of a transaction.
 */
export function gasLimitFor(estimate: bigint): bigint {
  if (estimate === PLAIN_PAYMENT_GAS) return estimate;
  const requested = estimate + dividedUp(estimate, 4n);
  const most = larger(estimate, MAX_TRANSACTION_GAS);
  return requested < most ? requested : most;
}

/** The middle value; of an even number the larger of the two. Null of none. */
export function median(values: readonly bigint[]): bigint | null {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

/** ceil(old * 1.125) + 1 */
function raised(old: bigint): bigint {
  return dividedUp(old * 9n, 8n) + 1n;
}

function dividedUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
