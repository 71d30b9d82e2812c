/** Thousandths of a satoshi per virtual byte, by the number of blocks until inclusion. */
export type FeeRates = ReadonlyMap<number, bigint>;

/**
 * Thousandths of a satoshi per virtual byte. Servers relay nothing below one satoshi (the
 * long-standing default of Bitcoin Core).
 */
const MIN_FEE_RATE = 1_000n;

/**
 * The rate that RPC nodes require for the relay of a replacement, beside the fee of the replaced
 * transaction (the long-standing default of Bitcoin Core).
 */
export const RELAY_RATE = 1_000n;

/** The number of blocks within which each speed aims to be included. */
const TARGETS = { slow: 12, normal: 3, fast: 1 } as const;

/**
 * Returns the rates of the three speeds. Each is at least as high as the previous one, whatever a
 * server reports.
 */
export function rateTiers(rates: FeeRates): { readonly slow: bigint; readonly normal: bigint; readonly fast: bigint } {
  const slow = maxBigint(rateWithin(rates, TARGETS.slow), MIN_FEE_RATE);
  const normal = maxBigint(rateWithin(rates, TARGETS.normal), slow);
  // It is at least half above normal, so that it is faster even when all recent payments offer the
  // same.
  const fast = maxBigint(rateWithin(rates, TARGETS.fast), normal + normal / 2n);
  return { slow, normal, fast };
}

/**
 * Returns the lower median of the servers' rates for each target; an empty map when no server has
 * rates.
 */
export function medianRates(servers: readonly FeeRates[]): FeeRates {
  const known = servers.filter(({ size }) => size > 0);
  if (known.length === 0) return new Map();
  return new Map(
    Object.values(TARGETS).map((target) => {
      const rates = known.map((one) => rateWithin(one, target)).toSorted((a, b) => (a < b ? -1 : 1));
      return [target, rates[Math.floor((rates.length - 1) / 2)] ?? 0n] as const;
    }),
  );
}

/** Returns satoshi, rounded up. */
export function feeAt(rate: bigint, virtualSize: bigint): bigint {
  return (rate * virtualSize + 999n) / 1000n;
}

/**
 * Returns the rate for the nearest number of blocks that is not beyond the target. When every
 * number is beyond it, the soonest applies, which is the least that the target can cost. Returns 0
 * without rates.
 */
function rateWithin(rates: FeeRates, blocks: number): bigint {
  const named = [...rates.keys()].toSorted((a, b) => a - b);
  const nearest = named.findLast((target) => target <= blocks) ?? named[0];
  return nearest === undefined ? 0n : (rates.get(nearest) ?? 0n);
}

export function maxBigint(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
