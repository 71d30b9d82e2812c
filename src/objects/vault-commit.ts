import type { VaultStorage } from '#objects/vault-storage.ts';

/** The storage transactions of one vault, and the alarm that drives what they leave to be done. */
export class VaultCommit {
  readonly #storage: DurableObjectStorage;
  readonly #rows: VaultStorage;
  readonly #onCommit: () => void;
  #armedAtMs: number | null = null;
  /** How far the clock that rings was ahead of this one the last time. */
  #aheadMs = 0;

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
   */
  async run(writes: () => void, remember: () => void = () => {}): Promise<void> {
    let armed: Promise<void> = Promise.resolve();
    const armedBefore = this.#armedAtMs;
    try {
      this.#storage.transactionSync(() => {
        writes();
        armed = this.arm();
      });
    } catch (error) {
      this.#armedAtMs = armedBefore;
      this.#rows.forget();
      throw error;
    }
    remember();
    await armed;
    this.#onCommit();
  }

  /** Sets the alarm to what is due first, unless one before that is set already. */
  async arm(): Promise<void> {
    const dueAtMs = this.#rows.nextDueAtMs();
    if (dueAtMs === null || (this.#armedAtMs !== null && this.#armedAtMs <= dueAtMs)) return;
    await this.armAt(dueAtMs);
  }

  async armAt(atMs: number): Promise<void> {
    this.#armedAtMs = atMs;
    await this.#storage.setAlarm(atMs + this.#aheadMs);
  }

  /**
   * The alarm has rung. It goes by another clock than this one: where it comes too early nothing is due yet, and set for the same time it would
   * ring again and again until this clock has come as far.
   */
  rung(nowMs: number): void {
    this.#aheadMs = Math.max(0, this.#aheadMs + (this.#armedAtMs ?? nowMs) - nowMs);
    this.#armedAtMs = null;
  }

  /** The alarm was lost, or may have been. */
  disarm(): void {
    this.#armedAtMs = null;
  }
}
