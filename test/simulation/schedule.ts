import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { seededRandom } from '#local/stack/seeded-random.ts';

/**
 * Whatever runs until it ends or is killed: an object in memory, a consumer at work, a request. Who
 * is killed never goes on.
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

  /** Gives what takes it back. */
  onEnd(farewell: () => void): () => void {
    if (this.#isOver) farewell();
    else this.#farewells.add(farewell);
    return () => void this.#farewells.delete(farewell);
  }
}

/** What may go wrong between two parts, as shares of all calls. */
export interface Weather {
  /** The call never arrives. */
  readonly lost: number;
  /** It is carried out, and the answer never arrives. */
  readonly unanswered: number;
  /** The caller dies before it, or after it. */
  readonly crash: number;
  /** It takes seconds. */
  readonly slow: number;
  /** Of messages: they come twice. */
  readonly doubled: number;
  /** Of alarms and messages: they never come. */
  readonly vanished: number;
  /** Of objects, now and then: their memory is taken. */
  readonly evicted: number;
}

export const CALM: Weather = { lost: 0, unanswered: 0, crash: 0, slow: 0, doubled: 0, vanished: 0, evicted: 0 };

/** The platform's word for a call that went wrong: nothing is known of what it did. */
export class LostCall extends Error {
  readonly retryable = true;
}

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A promise of its own each time: one for all would keep all its waiting callers in memory. */
const never = () => new Promise<never>(() => {});
const settle = setImmediate;
const FASTEST_MS = 1;
const USUAL_SPREAD_MS = 20;
const SLOW_SPREAD_MS = 30_000;

/**
 * Time, chance and the order of events of one simulated history. Everything that waits for
 * something outside itself waits here, one event happens at a time, and between two events
 * everything that can go on has gone on: so a seed alone decides what happens.
 */
export class Schedule {
  readonly chance: () => number;
  readonly #life = new AsyncLocalStorage<Life>();
  readonly #due: Due[] = [];
  readonly #trace = createHash('sha256');
  readonly counts = { events: 0, calls: 0, faults: 0, crashes: 0 };
  /** Print what happens. */
  readonly #log: (line: string) => void;
  weather: Weather = CALM;
  /** How far the clocks of the coordinator are wrong. */
  skewMs = 0;
  /** Messages in queues, and with consumers that are at work. */
  messagesUnderWay = 0;
  /** Called before the time goes on, with how far it goes. */
  onPause: (pauseMs: number) => void = () => {};
  /** The calls at which the caller dies, by number: before an even one, after an odd one. */
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

  /** Points at which a part could have died so far. */
  get points(): number {
    return this.#points;
  }

  startCounting(): void {
    this.#points = 0;
    this.#isCounting = true;
  }

  /** From here on no part dies. */
  stopCounting(): void {
    this.#isCounting = false;
  }

  /** A whole number from 0 up to the limit. */
  upTo(limit: number): number {
    return Math.floor(this.chance() * limit);
  }

  isLuck(share: number): boolean {
    // Nothing is drawn for what never happens, so that a calm history is the same whatever could
    // have been.
    return share > 0 && this.chance() < share;
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.upTo(from.length)];
    if (picked === undefined) throw new Error('there is nothing to pick from');
    return picked;
  }

  note(line: string): void {
    // The id of a person begins with the time at which this history was lived.
    const text = `${this.elapsedMs} ${line.replaceAll(/usr_[0-9A-Z]{10}/g, 'usr_')}`;
    this.#trace.update(`${text}\n`);
    this.#log(text);
  }

  /** The same for the same history. */
  traceHash(): string {
    return this.#trace.copy().digest('hex').slice(0, 16);
  }

  /** Schedules a function outside of any life. Returns the function that cancels it. */
  after(delayMs: number, run: () => void): () => void {
    const due = { atMs: this.nowMs + Math.max(0, delayMs), order: this.#order++, run };
    let [low, high] = [0, this.#due.length];
    // The next is the last of the list; of two at the same time the older one is first.
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

  /** Runs the due events until the condition holds, or this much time is over. */
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

  /** A life from its first deed to its last: what it came to, or null when it died before. */
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

  /** The power goes: everything that is in memory is lost at once. */
  powerCut(): void {
    this.note('power cut');
    this.counts.crashes++;
    for (const life of this.#lives) life.end();
  }

  /** What the one who runs now is. */
  get current(): Life | null {
    return this.#life.getStore() ?? null;
  }

  live<T>(life: Life, run: () => T): T {
    return this.#life.run(life, run);
  }

  /** Resolves after a time, unless the waiting part is dead by then. */
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

  /** How long a call takes, one way. */
  delayMs(): number {
    return this.isLuck(this.weather.slow) ? this.upTo(SLOW_SPREAD_MS) : FASTEST_MS + this.upTo(USUAL_SPREAD_MS);
  }

  /**
   * One call of one part by another: the caller may die before it or after it, the call may get
   * lost, and so may its answer. Throws `LostCall` where nothing comes back.
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
