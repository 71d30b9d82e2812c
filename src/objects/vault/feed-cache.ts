import type { Activity } from '#domain/activity/activity.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { BalanceView } from '#objects/vault/views.ts';

/** The part of `VaultChanges` that is the same for every reader. */
export interface SharedChanges {
  readonly seq: number;
  readonly records: readonly ({ readonly transaction: Transaction } | { readonly activity: Activity })[];
  readonly balances: readonly BalanceView[];
}

/** Readers at more positions than this are in replays, each at its own. */
const MAX_POSITIONS = 16;

/** The changes that waiting readers of the feed share, until the next commit. */
export class FeedCache {
  #count = 0;
  readonly #read = new Map<number, SharedChanges>();

  /**
   * Returns the changes after a position, as read since the last commit.
   *
   * @param count the number of commits so far
   */
  at(count: number, after: number, read: () => SharedChanges): SharedChanges {
    if (count !== this.#count || this.#read.size >= MAX_POSITIONS) this.#read.clear();
    this.#count = count;
    const known = this.#read.get(after) ?? read();
    this.#read.set(after, known);
    return known;
  }
}
