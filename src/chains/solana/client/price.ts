import type { Address } from '@solana/kit';
import { hexToBytes } from '@noble/hashes/utils.js';
import { termsIn } from '#chains/solana/rules/transaction.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/**
 * Ours: no tier is priced below these, in millionths of a lamport for each compute unit. RPC nodes
 * report the lowest price of each block, which is nearly always 0 and does not show what a leader
 * prefers. A payment uses 1,500 to 30,000 units: `normal` costs 150 to 3,000 lamports (the
 * signature alone costs 5,000), `fast` ten times as much.
 */
const FLOORS = { slow: 10_000n, normal: 100_000n, fast: 1_000_000n };

/**
 * Returns the prices of each speed: the higher of the samples' recent percentiles, or the floor.
 */
export function priceTiers(samples: readonly (readonly bigint[])[]): {
  readonly slow: bigint;
  readonly normal: bigint;
  readonly fast: bigint;
} {
  const market = (percent: number, floor: bigint) =>
    samples.map((paid) => quantile(paid, percent)).reduce(larger, floor);
  const normal = market(75, FLOORS.normal);
  // It is at least half above normal, so that it is faster even when all recent payments offer the
  // same.
  return { slow: market(25, FLOORS.slow), normal, fast: larger(market(95, FLOORS.fast), normal + normal / 2n) };
}

/** The attempt that another one replaces. */
export interface ReplacedPrice {
  readonly paid: bigint;
  /** True when its blockhash has expired, which says nothing about its price. */
  readonly hasLapsed: boolean;
  /** True when the new attempt is the cancellation, which need not be faster. */
  readonly isCancelled: boolean;
}

/**
 * Returns the price of an attempt: the current price, and at least twice the price of an attempt
 * that a user speeds up. The fee cap limits it, so congestion does not end a payment. Returns null
 * when the cap does not allow a useful price: the lowest one, or more than the replaced attempt
 * paid. Co-signers sign no further attempt that pays less than its predecessor.
 *
 * @param most the maximum that the fee cap allows
 */
export function attemptPrice(fresh: bigint, most: bigint, replaced: ReplacedPrice | null): bigint | null {
  const least = leastPrice(replaced);
  if (most < least) return null;
  const isRaised = replaced !== null && !replaced.hasLapsed;
  const requested = larger(larger(fresh, isRaised ? 2n * replaced.paid : 0n), least);
  return requested < most ? requested : most;
}

function leastPrice(replaced: ReplacedPrice | null): bigint {
  if (replaced === null) return FLOORS.slow;
  return replaced.hasLapsed || replaced.isCancelled ? replaced.paid : replaced.paid + 1n;
}

/** Returns the price of an attempt. */
export function pricePaid({ payload }: Attempt, wallet: Address): bigint {
  const terms = termsIn(hexToBytes(payload.slice(2)), wallet);
  if (terms === null) throw new Error('a stored payload cannot be read');
  return terms.unitPrice;
}

function quantile(values: readonly bigint[], percent: number): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.floor((sorted.length * percent) / 100)] ?? 0n;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
