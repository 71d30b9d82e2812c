import type { Client, Hex } from 'viem';
import { getBlock, getBlockNumber, sendRawTransaction } from 'viem/actions';

/** How often things go wrong, each as a share of 1: far worse than with any provider, and nothing of the truth may be lost by it. */
const FAULTS = {
  /** Of what there is to report: never reported. */
  lost: 0.2,
  /** Of what is reported: reported twice. */
  doubled: 0.2,
  /** Of what is due: kept back until the next look, and perhaps again, so that it comes late and out of order. */
  late: 0.8,
  /** Of the blocks: a reorganisation follows. */
  reorganised: 0.15,
};

/** Blocks that a reorganisation replaces, at most. */
const MAX_REORG_DEPTH = 3;

/** The part of an `eth_` interface that viem has no types for. */
type RawRequest = (call: { readonly method: string; readonly params: readonly unknown[] }) => Promise<unknown>;

/** What an unreliable monitor does with what it sees, by numbers from 0 up to 1 that may be the same each time. */
export class FaultyMonitor {
  readonly #chance: () => number;
  #kept: readonly string[] = [];

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  /** What of these, and of what was kept back before, is reported now. */
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

  /** How many of the newest blocks are to be replaced now, mostly 0; never one that was there before `begin`. */
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
 * Replaces the newest blocks by empty ones, and offers their transactions again, as the nodes of a chain do. What is mined while
 * this goes on may be gone for good, as it may be there.
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
  // One whose nonce has been taken meanwhile is refused, and stays away.
  for (const serializedTransaction of taken)
    await sendRawTransaction(client, { serializedTransaction }).catch(() => null);
}
