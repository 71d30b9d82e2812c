import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { seededRandom } from '#local/stack/seeded-random.ts';

/**
 * Anything that runs until it ends or is killed: an object in memory, a running consumer, a
 * request. A killed life never continues.
 */
export class Life {
  readonly name: string;
  #isOver = false;
  readonly #farewells = new Set<() => void>();

  constructor(name: string) {
    this.name = name;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const farewell of this.#farewells) farewell();
  }

  /** Registers a function to call at the end. Returns a function that removes it. */
  onEnd(farewell: () => void): () => void {
    if (this.#isOver) farewell();
    else this.#farewells.add(farewell);
    return () => void this.#farewells.delete(farewell);
  }
}

/** The probability of each kind of fault, per call unless stated otherwise. */
export interface Weather {
  /** The call never arrives. */
  readonly lost: number;
  /** The call is carried out, and its answer never arrives. */
  readonly unanswered: number;
  /** The caller dies before or after the call. */
  readonly crash: number;
  /** The call takes seconds. */
  readonly slow: number;
  /** A message is delivered twice. */
  readonly doubled: number;
  /** An alarm or a message never arrives. */
  readonly vanished: number;
  /** An object loses its memory; drawn at intervals. */
  readonly evicted: number;
}

export const CALM: Weather = { lost: 0, unanswered: 0, crash: 0, slow: 0, doubled: 0, vanished: 0, evicted: 0 };

/** The platform's error for a failed call: the caller does not know its effect. */
export class LostCall extends Error {
  readonly retryable = true;
}

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * Returns a new promise that never resolves. A shared one would keep all its waiting callers in
 * memory.
 */
const never = () => new Promise<never>(() => {});
const settle = setImmediate;
const FASTEST_MS = 1;
const USUAL_SPREAD_MS = 20;
const SLOW_SPREAD_MS = 30_000;

/**
 * The time, the randomness and the order of events of one simulated history. All waiting for
 * external events happens here, one event runs at a time, and between two events all other work is
 * finished. Therefore the seed alone determines the history.
 */
export class Schedule {
  readonly chance: () => number;
  readonly #life = new AsyncLocalStorage<Life>();
  readonly #due: Due[] = [];
  readonly #trace = createHash('sha256');
  readonly counts = { events: 0, calls: 0, faults: 0, crashes: 0 };
  /** Prints each event of the history. */
  readonly #log: (line: string) => void;
  weather: Weather = CALM;
  /** The error of the coordinator's clocks in milliseconds. */
  skewMs = 0;
  /** The number of messages that are in queues or with running consumers. */
  messagesUnderWay = 0;
  /** Called before the simulated time advances, with the number of milliseconds. */
  onPause: (pauseMs: number) => void = () => {};
  /**
   * The points at which the caller of a call dies. An even point is before a call, an odd point
   * after it.
   */
  crashPoints: ReadonlySet<number> = new Set();
  #points = 0;
  #isCounting = false;
  readonly #lives = new Set<Life>();
  nowMs: number;
  readonly #startedAtMs: number;
  #order = 0;

  constructor(seed: number, startedAtMs: number, log: (line: string) => void = () => {}) {
    this.chance = seededRandom(seed);
    this.nowMs = startedAtMs;
    this.#startedAtMs = startedAtMs;
    this.#log = log;
  }

  get elapsedMs(): number {
    return this.nowMs - this.#startedAtMs;
  }

  /** The number of points so far at which a part could have died. */
  get points(): number {
    return this.#points;
  }

  startCounting(): void {
    this.#points = 0;
    this.#isCounting = true;
  }

  /** Ends the counting; no part dies at a point from now on. */
  stopCounting(): void {
    this.#isCounting = false;
  }

  /** Returns a whole number from 0 up to, but not including, the limit. */
  upTo(limit: number): number {
    return Math.floor(this.chance() * limit);
  }

  isLuck(share: number): boolean {
    // Draws nothing for a fault of probability zero, so that a calm history does not depend on its
    // kinds of faults.
    return share > 0 && this.chance() < share;
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.upTo(from.length)];
    if (picked === undefined) throw new Error('there is nothing to pick from');
    return picked;
  }

  note(line: string): void {
    // The ids of people and transactions begin with a time, which differs between two runs.
    const timeless = line.replaceAll(/(usr_|\b\d+\.)[0-9A-Z]{10}(?=[0-9A-Z]{16})/g, '$1');
    const text = `${this.elapsedMs} ${timeless}`;
    this.#trace.update(`${text}\n`);
    this.#log(text);
  }

  /** Returns a hash of all events, which is the same for the same history. */
  traceHash(): string {
    return this.#trace.copy().digest('hex').slice(0, 16);
  }

  /** Schedules a function outside of any life. Returns the function that cancels it. */
  after(delayMs: number, run: () => void): () => void {
    const due = { atMs: this.nowMs + Math.max(0, delayMs), order: this.#order++, run };
    let [low, high] = [0, this.#due.length];
    // The next event is the last of the list; of two at the same time the older one runs first.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#due[middle]?.atMs ?? 0) > due.atMs) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, due);
    return () => {
      const at = this.#due.indexOf(due);
      if (at >= 0) this.#due.splice(at, 1);
    };
  }

  /** Runs the due events until the condition holds or this time has passed. */
  async run(isEnough: () => boolean, mostMs: number): Promise<void> {
    const untilMs = this.nowMs + mostMs;
    while (!isEnough()) {
      const next = this.#due.at(-1);
      if (next === undefined || next.atMs > untilMs) break;
      this.#due.pop();
      if (next.atMs > this.nowMs) this.onPause(next.atMs - this.nowMs);
      this.nowMs = next.atMs;
      this.counts.events++;
      next.run();
      await new Promise<void>((resume) => {
        settle(resume);
      });
    }
    if (!isEnough()) this.nowMs = Math.max(this.nowMs, untilMs);
  }

  birth(name: string): Life {
    const life = new Life(name);
    this.#lives.add(life);
    life.onEnd(() => this.#lives.delete(life));
    return life;
  }

  /** Runs a life from start to end. Returns the result, or null when the life was killed. */
  async lifetime<T extends {}>(name: string, deed: (life: Life) => T | Promise<T>): Promise<T | null> {
    const life = this.birth(name);
    const dead = new Promise<null>((resolve) => {
      life.onEnd(() => resolve(null));
    });
    try {
      return await Promise.race([this.live(life, async () => deed(life)), dead]);
    } finally {
      this.#lives.delete(life);
    }
  }

  /** Ends every life: everything in memory is lost at once. */
  powerCut(): void {
    this.note('power cut');
    this.counts.crashes++;
    for (const life of this.#lives) life.end();
  }

  /** The life that runs now; null outside of any life. */
  get current(): Life | null {
    return this.#life.getStore() ?? null;
  }

  live<T>(life: Life, run: () => T): T {
    return this.#life.run(life, run);
  }

  /** Resolves after a time, unless the waiting part has died by then. */
  async sleep(delayMs: number): Promise<void> {
    const life = this.current;
    let forget = () => {};
    await new Promise<void>((resume) => {
      const cancel = this.after(delayMs, resume);
      if (life !== null) forget = life.onEnd(cancel);
    });
    forget();
    if (life?.isOver === true) await never();
  }

  /** Returns the simulated time of a call in one direction, in milliseconds. */
  delayMs(): number {
    return this.isLuck(this.weather.slow) ? this.upTo(SLOW_SPREAD_MS) : FASTEST_MS + this.upTo(USUAL_SPREAD_MS);
  }

  /**
   * Makes one call of one part by another. The caller may die before or after the call, and the
   * call or its answer may be lost. Throws `LostCall` when no answer arrives.
   */
  async call<T>(name: string, carryOut: () => T | Promise<T>): Promise<T> {
    this.counts.calls++;
    const { lost, unanswered } = this.weather;
    await this.sleep(this.delayMs());
    await this.#mayDie(name);
    if (this.isLuck(lost)) throw this.#fault(`${name} lost`);
    const result = await carryOut();
    this.note(name);
    await this.sleep(this.delayMs());
    await this.#mayDie(name);
    if (this.isLuck(unanswered)) throw this.#fault(`${name} unanswered`);
    return result;
  }

  #fault(line: string): LostCall {
    this.counts.faults++;
    this.note(line);
    return new LostCall('Network connection lost (simulated)');
  }

  async #mayDie(name: string): Promise<void> {
    const life = this.current;
    if (life === null || !this.#isCounting) return;
    const point = this.#points++;
    if (!this.crashPoints.has(point) && !this.isLuck(this.weather.crash)) return;
    this.counts.crashes++;
    this.note(`${life.name} dies at ${name}`);
    life.end();
    await never();
  }
}
