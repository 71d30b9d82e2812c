/**
 * Wakes callers that wait for a change. It is in memory only: a caller that a restart forgets
 * repeats its request.
 */
export class ChangeSignal {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** The number of waiting callers of all keys. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((count, resumes) => count + resumes.size, 0);
  }

  wake(key: string): void {
    const resumes = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    for (const resume of resumes) resume();
  }

  /** Returns at the next change, or when the time is over. */
  async next(key: string, atMostMs: number): Promise<void> {
    const over = new AbortController();
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    let resume = () => {};
    const changed = new Promise<void>((resolve) => (resume = resolve));
    waiting.add(resume);
    const late = scheduler.wait(atMostMs, { signal: over.signal }).catch(() => {});
    await Promise.race([changed, late]);
    over.abort();
    waiting.delete(resume);
    if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
  }
}
