import type { Address } from '@solana/kit';
import { hexToBytes } from '@noble/hashes/utils.js';
import { termsIn } from '#chains/solana/transaction.ts';
import type { Attempt } from '#domain/transaction.ts';

/**
 * Prices are millionths of a lamport for each compute unit. A payment takes some thousands of units, so a price of ten thousand is less
 * than a lamport for most of them; below it a leader in a hurry takes the others first.
 */
const LOWEST = 10_000n;

/** Prices for who can wait, for most (what three of four have paid of late, or the lowest), and for who can not. */
export function priceTiers(paid: readonly bigint[]): {
  readonly slow: bigint;
  readonly normal: bigint;
  readonly fast: bigint;
} {
  const [low, normal, high] = [quantile(paid, 25), quantile(paid, 75), quantile(paid, 95)];
  // Half as much again where nobody pays more: it has to be faster than normal.
  const faster = normal + normal / 2n;
  return { slow: low, normal, fast: high > faster ? high : faster };
}

/** Whoever sends it again wants it to be taken: twice what it paid, where the market does not ask for more. */
export function raisedPrice(fresh: bigint, before: bigint): bigint {
  return fresh > 2n * before ? fresh : 2n * before;
}

/** What an attempt pays. */
export function pricePaid({ payload }: Attempt, wallet: Address): bigint {
  const terms = termsIn(hexToBytes(payload.slice(2)), wallet);
  if (terms === null) throw new Error('a stored payload can be read');
  return terms.unitPrice;
}

function quantile(values: readonly bigint[], percent: number): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const found = sorted[Math.floor((sorted.length * percent) / 100)] ?? LOWEST;
  return found > LOWEST ? found : LOWEST;
}
