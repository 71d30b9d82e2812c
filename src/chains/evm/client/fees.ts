import type { Call } from '#chains/evm/rules/call.ts';
import { reachedByTwo } from '#chains/rpc/node-pool.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/** EIP-1559 prices, in wei per gas. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The field of a chain's row about tips. */
export type TipRow = Pick<Chain, 'minTip'>;

/**
 * geth's miner accepts nothing below 0.001 gwei (its default since 1.14), and most pools refuse a
 * tip of zero.
 */
const DEFAULT_MIN_TIP = 1_000_000n;

/**
 * The gas of a payment to an account without code. It is exact, which a wallet needs to send its
 * last wei.
 */
const PLAIN_PAYMENT_GAS = 21_000n;

/**
 * Returns prices that stay sufficient until inclusion. Twice the base fee outlasts five full blocks
 * in a row (it grows by an eighth with each); the chain refunds what it does not charge.
 *
 * @param suggestedTip what the RPC node or the last blocks suggest, within bounds; or null
 */
export function feesFor({ minTip }: TipRow, baseFeePerGas: bigint, suggestedTip: bigint | null): Fees {
  const lowest = minTip === undefined ? DEFAULT_MIN_TIP : BigInt(minTip);
  const tip = suggestedTip === null || suggestedTip < lowest ? lowest : suggestedTip;
  return { maxFeePerGas: 2n * baseFeePerGas + tip, maxPriorityFeePerGas: tip };
}

/** Tips that recent blocks were paid, in wei per gas; null when unknown. */
export interface Tips {
  /** What the RPC node suggests, or what half of the gas of recent blocks paid. */
  readonly suggested: bigint | null;
  /** A tenth of the gas paid less. */
  readonly low: bigint | null;
  /** A tenth of the gas paid more, in the blocks whose gas paid a tip. */
  readonly high: bigint | null;
}

/**
 * Ours: a tip that tripled within the ten blocks of the history is still followed. More than that
 * is an error of the RPC node or the offer of one sender: a suggestion of 2,000 gwei beside a
 * history of 1 gwei cost a payment of 1 wei 0.042 ETH. A tip that is too low can be raised later,
 * and one that is too high is lost.
 */
const MAX_TIP_MULTIPLE = 3n;

/**
 * Returns the suggested tip, and at most a multiple of what nine tenths of the gas of recent blocks
 * paid. Without paid tips in the history the suggestion stands: an empty block says nothing of what
 * the next one requires, and the fee cap bounds the tip.
 */
function boundedTip({ suggested, high }: Tips): bigint | null {
  if (suggested === null || high === null) return suggested;
  const most = MAX_TIP_MULTIPLE * high;
  return suggested < most ? suggested : most;
}

/** Returns the prices of the three speeds. `normal` is the price that signing itself uses. */
export function feeTiers(
  row: TipRow,
  baseFeePerGas: bigint,
  tips: Tips,
): { readonly slow: Fees; readonly normal: Fees; readonly fast: Fees } {
  const normal = feesFor(row, baseFeePerGas, boundedTip(tips));
  const { maxPriorityFeePerGas: tip } = normal;
  const cheap = feesFor(row, baseFeePerGas, tips.low).maxPriorityFeePerGas;
  const slowTip = cheap < tip ? cheap : tip;
  // It is at least half above normal, so that it is faster even when all recent tips equal the
  // suggestion.
  const fastTip = larger(tips.high ?? 0n, tip + tip / 2n);
  return {
    // One full block may pass before this price is too low; the transaction then waits and is not
    // lost.
    slow: { maxFeePerGas: dividedUp(baseFeePerGas * 9n, 8n) + slowTip, maxPriorityFeePerGas: slowTip },
    normal,
    fast: { maxFeePerGas: 2n * baseFeePerGas + fastTip, maxPriorityFeePerGas: fastTip },
  };
}

/**
 * Returns the prices of a replacement. RPC nodes accept it only when BOTH prices are a tenth higher
 * (geth's PriceBump); an eighth plus one wei is safely more.
 */
export function replacementFees(fresh: Fees, replaced: Fees): Fees {
  return {
    maxFeePerGas: larger(fresh.maxFeePerGas, raised(replaced.maxFeePerGas)),
    maxPriorityFeePerGas: larger(fresh.maxPriorityFeePerGas, raised(replaced.maxPriorityFeePerGas)),
  };
}

/**
 * Messages of geth, and of the Polygon and BSC nodes that derive from it. Wei per gas have at most
 * 30 digits.
 */
const TIP_NEEDED = /gas tip cap \d+, minimum needed (\d{1,30})\b|tip needed (\d{1,30}), tip permitted \d+/;

/**
 * Returns the minimum tip that an RPC node reports when it refuses an attempt as underpriced; null
 * without one. Steps of an eighth would need about eighty rounds of signing from a tip of nothing
 * to one of 25 gwei. The reported tip is checked against the fee cap like any other price.
 */
export function tipNeeded(sent: Attempt['sent']): bigint | null {
  const named = sent?.outcome === 'underpriced' ? TIP_NEEDED.exec(sent.answer?.toLowerCase() ?? '') : null;
  const digits = named?.[1] ?? named?.[2];
  return digits === undefined ? null : BigInt(digits);
}

/** Returns the prices with at least this tip; the part for the base fee does not change. */
export function withMinTip({ maxFeePerGas, maxPriorityFeePerGas }: Fees, least: bigint | null): Fees {
  const tip = larger(maxPriorityFeePerGas, least ?? 0n);
  return { maxFeePerGas: maxFeePerGas + tip - maxPriorityFeePerGas, maxPriorityFeePerGas: tip };
}

/** Gas of a byte of calldata: EIP-2028, and the floor of EIP-7623 for each of its tokens. */
const GAS_OF_ZERO_BYTE = 4n;
const GAS_OF_BYTE = 16n;
const FLOOR_GAS_OF_TOKEN = 10n;
/** A byte that is not zero is four tokens. */
const TOKENS_OF_BYTE = 4n;

/** Returns the gas below which every RPC node refuses a call, whatever it does. */
export function intrinsicGas(data: string): bigint {
  const bytes = data.slice(2).match(/../g) ?? [];
  const zeros = BigInt(bytes.filter((byte) => byte === '00').length);
  const others = BigInt(bytes.length) - zeros;
  const ordinary = zeros * GAS_OF_ZERO_BYTE + others * GAS_OF_BYTE;
  return PLAIN_PAYMENT_GAS + larger(ordinary, (zeros + others * TOKENS_OF_BYTE) * FLOOR_GAS_OF_TOKEN);
}

/**
 * Returns the gas of a call by the estimates of RPC nodes: the larger of two, and of more the
 * largest that two of them reach. A call with too little gas is refused, or mined and reverted. It
 * is never below the intrinsic gas.
 *
 * A payment of nothing to the wallet itself takes 21,000 by rule, and more only on chains that
 * charge for its bytes in gas. A false estimate must not make a cancellation too dear, so the
 * smallest possible one counts.
 */
export function gasNeeded(from: string, { to, value, data }: Call, estimates: readonly bigint[]): bigint {
  const least = intrinsicGas(data);
  const possible = estimates.filter((one) => one >= least);
  const isNothing = to.toLowerCase() === from.toLowerCase() && value === 0n && data === '0x';
  if (isNothing) return possible.reduce((lowest, one) => (one < lowest ? one : lowest), possible[0] ?? least);
  const most = estimates.length > 2 ? reachedByTwo(estimates) : null;
  return larger(least, most ?? estimates.reduce(larger, 0n));
}

/**
 * EIP-7825: no transaction on Ethereum may have more gas. Chains without the rule may estimate
 * more.
 */
const MAX_TRANSACTION_GAS = 2n ** 24n;

/**
 * Returns a quarter above the estimate, because a token's cost changes with the balances that other
 * transactions leave. The margin alone never crosses the limit of a transaction.
 */
export function gasLimitFor(estimate: bigint): bigint {
  if (estimate === PLAIN_PAYMENT_GAS) return estimate;
  const requested = estimate + dividedUp(estimate, 4n);
  const most = larger(estimate, MAX_TRANSACTION_GAS);
  return requested < most ? requested : most;
}

/** Returns the middle value; the larger of the two for an even number; null without values. */
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
