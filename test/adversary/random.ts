import { seededRandom } from '#local/stack/seeded-random.ts';

/** All randomness of a game: one seed gives one game. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
    // The first numbers are skipped, because neighbouring seeds begin alike.
    for (let i = 0; i < 8; i++) this.#next();
  }

  upTo(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  /** Returns true with this probability in percent. */
  percent(probability: number): boolean {
    return this.upTo(100) < probability;
  }

  of<T>(values: readonly T[]): T {
    const value = values[this.upTo(values.length)];
    if (value === undefined) throw new Error('there is nothing to choose from');
    return value;
  }

  /** Returns this number of values, in their order. */
  some<T>(values: readonly T[], count: number): readonly T[] {
    const left = [...values.keys()];
    const taken = new Set<number>();
    while (taken.size < count && left.length > 0) taken.add(left.splice(this.upTo(left.length), 1)[0] ?? 0);
    return values.filter((_, i) => taken.has(i));
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.upTo(256));
  }
}
