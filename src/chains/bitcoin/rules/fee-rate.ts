/** Thousandths of a satoshi per virtual byte, by the number of blocks that it takes. */
export type FeeRates = ReadonlyMap<number, bigint>;

/** Thousandths of a satoshi per virtual byte. Nodes relay nothing below one satoshi (Bitcoin Core's default of long). */
const MIN_FEE_RATE = 1_000n;

/** What RPC nodes want for the relay of a replacement, beside the fee of what it replaces (Bitcoin Core's default of long). */
export const RELAY_RATE = 1_000n;

/** Blocks within which each speed aims to be included. */
const TARGETS = { slow: 12, normal: 3, fast: 1 } as const;

/** For who can wait, for most, and for who can not. Each is at least as fast as the one before, whatever a server says. */
export function rateTiers(rates: FeeRates): { readonly slow: bigint; readonly normal: bigint; readonly fast: bigint } {
  const slow = maxBigint(rateWithin(rates, TARGETS.slow), MIN_FEE_RATE);
  const normal = maxBigint(rateWithin(rates, TARGETS.normal), slow);
  // Half as much again where nobody pays more: it has to be faster than normal.
  const fast = maxBigint(rateWithin(rates, TARGETS.fast), normal + normal / 2n);
  return { slow, normal, fast };
}

/** The rates that servers know together: for each target the lower median. Empty where no server knows any. */
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

/** Satoshi, rounded up. */
export function feeAt(rate: bigint, virtualSize: bigint): bigint {
  return (rate * virtualSize + 999n) / 1000n;
}

/**
 * The rate for the nearest number of blocks that is not beyond the target. Where every one is beyond it the soonest of them, which
 * is the least that the target can cost; 0 where there is none.
 */
function rateWithin(rates: FeeRates, blocks: number): bigint {
  const named = [...rates.keys()].toSorted((a, b) => a - b);
  const nearest = named.findLast((target) => target <= blocks) ?? named[0];
  return nearest === undefined ? 0n : (rates.get(nearest) ?? 0n);
}

export function maxBigint(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
