/** What a request may cost with a hundred times as much data, in costs of the smallest case. */
const MAX_GROWTH = 1.5;
/** A ratio is a median of seven, which varies by this much between two runs of one case. */
const NOISE = 0.1;

/** A case of a series: its throughput divided by that of the smallest case. */
export interface Grown {
  readonly name: string;
  /** The name of the smallest case; null for that one itself. */
  readonly baseline: string | null;
  readonly ratio: number;
}

/** Returns a line for each case whose cost for each request grows by more than the maximum. */
export function excessiveGrowth(cases: readonly Grown[]): readonly string[] {
  return cases.flatMap(({ name, baseline, ratio }) => {
    // The cost is the inverse of the throughput. A ratio that was not measured is excessive.
    if (baseline === null || 1 / ratio <= MAX_GROWTH + NOISE) return [];
    return [`${name} costs ${(1 / ratio).toFixed(2)} times as much as ${baseline}, of ${MAX_GROWTH} (+ ${NOISE})`];
  });
}
