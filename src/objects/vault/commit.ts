import type { VaultStorage } from '#objects/vault/storage.ts';

/** No two clocks of one platform differ by more. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** The storage transactions of one vault, and the alarm that drives what they leave to be done. */
export class VaultCommit {
  readonly #storage: DurableObjectStorage;
  readonly #rows: VaultStorage;
  readonly #onCommit: () => void;
  #armedAtMs: number | null = null;
  /** Added to what is due, while the clock that rings seems to be ahead of this one. */
  #patienceMs = 0;

  /** @param onCommit after each commit: whoever waits for news looks again */
  constructor(storage: DurableObjectStorage, rows: VaultStorage, onCommit: () => void) {
    this.#storage = storage;
    this.#rows = rows;
    this.#onCommit = onCommit;
  }

  /**
   * The writes and the alarm that drives their outbox are durable together, or not at all. What memory holds of them changes in the same
   * turn: whoever has waited for something else meanwhile must not go on with what was before.
   *
   * @param remember called when the writes stand, before anything is waited for
   * @returns what the writes gave
   */
  async run<T>(writes: () => T, remember: () => void = () => {}): Promise<T> {
    let armed: Promise<void> = Promise.resolve();
    const armedBefore = this.#armedAtMs;
    let given: T;
    try {
      given = this.#storage.transactionSync(() => {
        const written = writes();
        armed = this.arm();
        return written;
      });
    } catch (error) {
      this.#armedAtMs = armedBefore;
      this.#rows.forget();
      throw error;
    }
    remember();
    await armed;
    this.#onCommit();
    return given;
  }

  /** Sets the alarm to what is due first, unless one before that is set already. */
  async arm(): Promise<void> {
    const dueAtMs = this.#rows.nextDueAtMs();
    if (dueAtMs === null || (this.#armedAtMs !== null && this.#armedAtMs <= dueAtMs)) return;
    await this.armAt(dueAtMs);
  }

  async armAt(atMs: number): Promise<void> {
    this.#armedAtMs = atMs;
    await this.#storage.setAlarm(atMs + this.#patienceMs);
  }

  /**
   * The alarm has rung. It goes by another clock than this one: where it comes too early nothing is due yet, and set for the same time it would
   * ring again and again until this clock has come as far. So each time that it is too early the next one is set a little later than before;
   * one that was on its way when another was set costs a millisecond.
   */
  onAlarm(nowMs: number): void {
    const isEarly = this.#armedAtMs !== null && nowMs < this.#armedAtMs;
    this.#patienceMs = isEarly ? Math.min(Math.max(1, 2 * this.#patienceMs), MAX_CLOCK_SKEW_MS) : 0;
    this.#armedAtMs = null;
  }

  /** The alarm was lost, or may have been. */
  disarm(): void {
    this.#armedAtMs = null;
  }
}
