import type { Address } from '@solana/kit';
import { hexToBytes } from '@noble/hashes/utils.js';
import { termsIn } from '#chains/solana/rules/transaction.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/**
 * Ours: no tier is priced below these, in millionths of a lamport for each compute unit. RPC nodes report the lowest price of each
 * block, which is nearly always 0 and says little of what a leader prefers. A payment takes 1,500 to 30,000 units: `normal` costs
 * 150 to 3,000 lamports (the signature alone costs 5,000), `fast` ten times as much.
 */
const FLOORS = { slow: 10_000n, normal: 100_000n, fast: 1_000_000n };

/** Returns the prices of each speed: what a share of several samples has paid of late, by the dearer sample, or the floor. */
export function priceTiers(samples: readonly (readonly bigint[])[]): {
  readonly slow: bigint;
  readonly normal: bigint;
  readonly fast: bigint;
} {
  const market = (percent: number, floor: bigint) =>
    samples.map((paid) => quantile(paid, percent)).reduce(larger, floor);
  const normal = market(75, FLOORS.normal);
  // Half as much again where nobody pays more: it has to be faster than normal.
  return { slow: market(25, FLOORS.slow), normal, fast: larger(market(95, FLOORS.fast), normal + normal / 2n) };
}

/** The attempt that another one takes the place of. */
export interface ReplacedPrice {
  readonly paid: bigint;
  /** Its blockhash has expired, which says nothing about its price. */
  readonly hasLapsed: boolean;
  /** The new attempt is the cancellation, which need not be faster. */
  readonly isCancelled: boolean;
}

/**
 * Returns what an attempt pays: the price of now, and twice the price of an attempt that a person wants to be faster. What the fee
 * cap allows bounds it, so congestion does not end a payment. Null where the cap does not allow a useful price: the lowest one, or
 * more than the replaced attempt paid. Co-signers sign no further attempt that pays less than the one before.
 *
 * @param most what the fee cap allows
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

/** What an attempt pays. */
export function pricePaid({ payload }: Attempt, wallet: Address): bigint {
  const terms = termsIn(hexToBytes(payload.slice(2)), wallet);
  if (terms === null) throw new Error('a stored payload can be read');
  return terms.unitPrice;
}

function quantile(values: readonly bigint[], percent: number): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.floor((sorted.length * percent) / 100)] ?? 0n;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
