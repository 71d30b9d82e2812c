import type { Client, Hex } from 'viem';
import { getBlock, getBlockNumber, sendRawTransaction } from 'viem/actions';

/**
 * The probability of each fault, as a share of 1: far worse than with any provider. No transaction
 * may be lost by it.
 */
const FAULTS = {
  /** Of all observations: never reported. */
  lost: 0.2,
  /** Of the reports: sent twice. */
  doubled: 0.2,
  /**
   * Of the due reports: delayed until the next poll, and perhaps again, so that they arrive late
   * and out of order.
   */
  late: 0.8,
  /** Of the blocks: a reorganisation follows. */
  reorganised: 0.15,
};

/** The most blocks that a reorganisation replaces. */
const MAX_REORG_DEPTH = 3;

/** The part of an `eth_` interface that viem has no types for. */
type RawRequest = (call: { readonly method: string; readonly params: readonly unknown[] }) => Promise<unknown>;

/** The behaviour of an unreliable monitor, from numbers from 0 up to 1 that may be reproducible. */
export class FaultyMonitor {
  readonly #chance: () => number;
  #kept: readonly string[] = [];

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  /** Returns the reports that are due now, from these and the delayed ones. */
  due(hashes: readonly string[]): readonly string[] {
    const reported = hashes.filter(() => !this.#happens(FAULTS.lost));
    const all = [...this.#kept, ...reported, ...reported.filter(() => this.#happens(FAULTS.doubled))];
    const outcomes = all.map((hash) => ({ hash, isLate: this.#happens(FAULTS.late), endpoint: this.#chance() }));
    this.#kept = outcomes.filter(({ isLate }) => isLate).map(({ hash }) => hash);
    return outcomes
      .filter(({ isLate }) => !isLate)
      .toSorted((one, other) => one.endpoint - other.endpoint)
      .map(({ hash }) => hash);
  }

  /**
   * Returns how many of the newest blocks to replace now, mostly 0, and never one before `begin`.
   */
  depth(head: bigint, begin: bigint): number {
    if (!this.#happens(FAULTS.reorganised)) return 0;
    const requested = 1 + Math.floor(this.#chance() * MAX_REORG_DEPTH);
    const possible = head - begin + 1n;
    return possible < BigInt(requested) ? Number(possible) : requested;
  }

  #happens(share: number): boolean {
    return this.#chance() < share;
  }
}

/**
 * Replaces the newest blocks by empty ones, and sends their transactions again, as the nodes of a
 * chain do. A block that is mined meanwhile may be lost or not.
 */
export async function reorganise(client: Client, depth: number): Promise<void> {
  const request = client.request as RawRequest;
  const head = await getBlockNumber(client, { cacheTime: 0 });
  const taken: Hex[] = [];
  for (let number = head - BigInt(depth) + 1n; number <= head; number++) {
    const { transactions } = await getBlock(client, { blockNumber: number });
    for (const hash of transactions) {
      taken.push((await request({ method: 'eth_getRawTransactionByHash', params: [hash] })) as Hex);
    }
  }
  await request({ method: 'anvil_reorg', params: [depth, []] });
  // A transaction whose nonce was used meanwhile is refused, and stays lost.
  for (const serializedTransaction of taken)
    await sendRawTransaction(client, { serializedTransaction }).catch(() => null);
}
