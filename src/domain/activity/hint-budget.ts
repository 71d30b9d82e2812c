/**
 * How many hints of one endpoint are read from the chains in a minute. Every holder of its secret
 * can name any number of transactions, and each hint costs about four calls to RPC nodes, whose
 * providers count them. A hint above the budget is stored and waits, and none is lost.
 */

/**
 * The maximum number of hints in one invocation: each needs several RPC calls, and a consumer is
 * limited in time and in calls.
 */
export const MAX_HINTS = 25;

/**
 * The token buckets of an endpoint. `fresh`: the first try of a delivery, and of the first part of
 * a long one. `known`: further tries of transactions that an RPC node has, without a block.
 * `missed`: further tries of a delivery with a transaction that no RPC node has, or whose chain
 * does not answer. `bulk`: the other parts of a long delivery, and every further try of a part.
 */
export type HintLane = 'fresh' | 'known' | 'missed' | 'bulk';

interface LaneBudget {
  /** The time for which one hint occupies the lane. */
  readonly intervalMs: number;
  /** The number of hints that are read at once after a quiet time. */
  readonly burst: number;
}

/**
 * Ours. 1,200 hints a minute are more than all transactions of Ethereum, about 1,000 a minute, so a
 * monitor of the wallets of any number of vaults is not delayed. A burst of 300 costs about 1,200
 * calls, one second of a fast RPC node, before the deposit of another endpoint is read. A monitor
 * that is ahead of its RPC nodes misses each transaction once, so further tries have the same rate,
 * and never use what first tries need. The bulk has half the rate and no burst: a part is read
 * every 2.5 seconds, between the messages of others. The largest delivery, 13,400 hashes, takes 22
 * minutes.
 */
const LANES: Readonly<Record<HintLane, LaneBudget>> = {
  fresh: { intervalMs: 50, burst: 300 },
  known: { intervalMs: 50, burst: 300 },
  missed: { intervalMs: 50, burst: 300 },
  bulk: { intervalMs: 100, burst: 0 },
};

/**
 * The maximum number of open parts of one endpoint. A further long delivery is refused. Ours: the
 * largest delivery has about 600 parts, so six of them fit; these 100,000 hints are read in less
 * than three hours and take about 10 MB.
 */
export const MAX_OPEN_PARTS = 4_000;

/** What some hints take of a lane. */
export interface LaneCharge {
  readonly lane: HintLane;
  readonly costMs: number;
  /** A lane that is occupied until this long after now accepts a hint at once. */
  readonly burstMs: number;
}

/** Returns what a number of hints takes of a lane. */
export function chargeOf(lane: HintLane, hints: number): LaneCharge {
  const { intervalMs, burst } = LANES[lane];
  return { lane, costMs: hints * intervalMs, burstMs: burst * intervalMs };
}

/** Returns the number of parts of a delivery with so many hints; 0 for a short one. */
export function partsOf(hints: number): number {
  return hints > MAX_HINTS ? Math.ceil(hints / MAX_HINTS) : 0;
}
