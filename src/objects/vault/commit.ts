import type { VaultStorage } from '#objects/vault/storage.ts';

/** No two clocks of one platform differ by more. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** The storage transactions of one vault, and the alarm that drives their pending work. */
export class VaultCommit {
  readonly #storage: DurableObjectStorage;
  readonly #rows: VaultStorage;
  readonly #onCommit: () => void;
  #count = 0;
  #armedAtMs: number | null = null;
  /** Added to the due time while the clock of the alarm seems to be ahead of this one. */
  #patienceMs = 0;
  /**
   * After a failed projection the time of its next try, in Unix milliseconds; otherwise 0. It is
   * lost with the memory of the object, which costs one try.
   */
  projectFromMs = 0;

  /** @param onCommit called after each commit, so that waiting readers continue */
  constructor(storage: DurableObjectStorage, rows: VaultStorage, onCommit: () => void) {
    this.#storage = storage;
    this.#rows = rows;
    this.#onCommit = onCommit;
  }

  /** The number of commits of this instance: what was read at a count holds until the next one. */
  get count(): number {
    return this.#count;
  }

  /**
   * Makes the writes and the alarm that drives their outbox durable together, or not at all. The
   * memory changes in the same turn, so that code which was waiting does not continue with the old
   * state.
   *
   * @param remember called after the writes, before anything is awaited
   * @returns the result of the writes
   */
  async run<T>(writes: () => T, remember: () => void = () => {}): Promise<T> {
    let armed: Promise<void> = Promise.resolve();
    const armedBefore = this.#armedAtMs;
    let result: T;
    try {
      result = this.#storage.transactionSync(() => {
        const written = writes();
        armed = this.arm();
        return written;
      });
    } catch (error) {
      this.#armedAtMs = armedBefore;
      this.#rows.forget();
      throw error;
    }
    this.#count += 1;
    remember();
    await armed;
    this.#onCommit();
    return result;
  }

  /**
   * Sets the alarm to the first due time, unless an earlier one is already set. A commit thereby
   * brings a delayed alarm forward: its work does not wait because other work failed, and rate
   * limits bound the number of commands.
   *
   * @param retryAtMs when failed work that is still due is tried again; 0 when none failed
   */
  async arm(retryAtMs = 0): Promise<void> {
    const nextMs = this.#rows.nextDueAtMs(this.projectFromMs);
    if (nextMs === null) return;
    const dueAtMs = nextMs <= Date.now() ? Math.max(nextMs, retryAtMs) : nextMs;
    if (this.#armedAtMs === null || this.#armedAtMs > dueAtMs) await this.armAt(dueAtMs);
  }

  async armAt(atMs: number): Promise<void> {
    this.#armedAtMs = atMs;
    await this.#storage.setAlarm(atMs + this.#patienceMs);
  }

  /**
   * Records that the alarm has fired. The alarm uses another clock than this one. When it fires too
   * early, nothing is due yet, and an alarm for the same time would fire repeatedly until this
   * clock reaches it. Therefore each early alarm delays the next one a little more. An alarm that
   * was firing while another was set costs a millisecond.
   */
  onAlarm(nowMs: number): void {
    const isEarly = this.#armedAtMs !== null && nowMs < this.#armedAtMs;
    this.#patienceMs = isEarly ? Math.min(Math.max(1, 2 * this.#patienceMs), MAX_CLOCK_SKEW_MS) : 0;
    this.#armedAtMs = null;
  }

  /** Records that the alarm was lost, or may have been. */
  disarm(): void {
    this.#armedAtMs = null;
  }
}
