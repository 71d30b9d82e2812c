import { WINDOW_SECONDS } from '#domain/access/rate-limit.ts';

/** The requests that were admitted at one millisecond. */
export type Burst = readonly [atMs: number, count: number];

export interface Admission {
  readonly admitted: boolean;
  /** Requests that would be admitted now. */
  readonly remaining: number;
  /** Whole seconds, at least 1, after which one more is admitted. */
  readonly resetSeconds: number;
}

interface Granted extends Omit<Admission, 'admitted'> {
  readonly granted: number;
}

const WINDOW_MS = WINDOW_SECONDS * 1000;

/**
 * Ours: stored times are rounded up to it, so that what is stored has a bounded size. After a
 * restart a request then counts for at most this much longer.
 */
export const STORED_STEP_MS = 250;

/** Bursts that have left are removed together, because each removal moves the others. */
const MAX_LEFT = 1_000;

/** How long a window is, and the step of its stored times. */
export interface WindowSpan {
  readonly windowMs: number;
  readonly stepMs: number;
}

const OF_REQUESTS: WindowSpan = { windowMs: WINDOW_MS, stepMs: STORED_STEP_MS };

/**
 * The requests, or other units, that were admitted in the last 60 seconds, or in another span. In
 * no such span are more admitted than the quota, and none below it is refused. A window that begins
 * at a fixed time would admit twice the quota around its end.
 */
export class SlidingWindow {
  /** The oldest first. The first `#left` of them no longer count. */
  readonly #bursts: [atMs: number, count: number][];
  readonly #span: WindowSpan;
  #left = 0;
  #used: number;

  constructor(bursts: readonly Burst[] = [], span: WindowSpan = OF_REQUESTS) {
    this.#span = span;
    this.#bursts = bursts.map(([atMs, count]) => [atMs, count]);
    this.#used = bursts.reduce((sum, [, count]) => sum + count, 0);
  }

  /**
   * Counts one request, unless the quota is used. A refused request is not counted, so a client
   * that waits `resetSeconds` is admitted.
   */
  admit(quota: number, nowMs: number): Admission {
    const { granted, ...state } = this.grant(quota, nowMs, 1);
    return { admitted: granted === 1, ...state };
  }

  /** Counts as many of the requests as the quota leaves. */
  grant(quota: number, nowMs: number, requests: number): Granted {
    const granted = Math.min(requests, this.room(quota, nowMs));
    if (granted > 0) this.#add(nowMs, granted);
    const resetSeconds = Math.max(1, Math.ceil((this.#freeAtMs(quota) - nowMs) / 1000));
    return { granted, remaining: Math.max(0, quota - this.#used), resetSeconds };
  }

  /** Returns how many requests would be admitted now. */
  room(quota: number, nowMs: number): number {
    this.#moveTo(nowMs);
    return Math.max(0, quota - this.#used);
  }

  /** Returns the requests that count, for the storage. */
  stored(): readonly Burst[] {
    const steps = new Map<number, number>();
    for (const [atMs, count] of this.#bursts.slice(this.#left)) {
      const step = Math.ceil(atMs / this.#span.stepMs) * this.#span.stepMs;
      steps.set(step, (steps.get(step) ?? 0) + count);
    }
    return [...steps];
  }

  #add(nowMs: number, requests: number): void {
    this.#used += requests;
    const newest = this.#bursts.at(-1);
    if (newest?.[0] === nowMs) newest[1] += requests;
    else this.#bursts.push([nowMs, requests]);
  }

  #moveTo(nowMs: number): void {
    this.#endFuture(nowMs);
    for (
      let oldest = this.#oldest();
      oldest !== undefined && oldest[0] + this.#span.windowMs <= nowMs;
      oldest = this.#oldest()
    ) {
      this.#used -= oldest[1];
      this.#left += 1;
    }
    if (this.#left <= MAX_LEFT) return;
    this.#bursts.splice(0, this.#left);
    this.#left = 0;
  }

  /** A clock that was set back must not close the window for longer than it lasts. */
  #endFuture(nowMs: number): void {
    let count = 0;
    while (this.#bursts.length > this.#left && (this.#bursts.at(-1)?.[0] ?? 0) > nowMs) {
      count += this.#bursts.pop()?.[1] ?? 0;
    }
    if (count > 0) this.#bursts.push([nowMs, count]);
  }

  #oldest(): Burst | undefined {
    return this.#bursts[this.#left];
  }

  /** Returns when one more request than now is admitted. */
  #freeAtMs(quota: number): number {
    let excess = Math.max(0, this.#used - quota);
    for (let i = this.#left; i < this.#bursts.length; i += 1) {
      const [atMs, count] = this.#bursts[i] ?? [0, 0];
      if (excess < count) return atMs + this.#span.windowMs;
      excess -= count;
    }
    return 0;
  }
}
