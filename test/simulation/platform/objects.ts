import { Database, objectSql } from '../../objects/memory-sql.ts';
import type { Life, Schedule } from '../schedule.ts';
import { LostCall } from '../schedule.ts';
import { checkStored } from '../../limits/limited-bindings.ts';
import { within } from '../../limits/limits.ts';

type Behaviour = Readonly<Record<string, unknown>>;
type Construct = (ctx: DurableObjectState) => object;

/** The number of times that the platform retries an alarm that fails. */
const ALARM_TRIES = 6;
const ALARM_RETRY_MS = 2_000;

/** A simulated Durable Object: its storage, and its instance in memory when it has one. */
export class ObjectHost {
  readonly name: string;
  readonly db = new Database();
  readonly #schedule: Schedule;
  readonly #construct: Construct;
  readonly #values = new Map<string, unknown>();
  #instance: { readonly self: Behaviour; readonly life: Life; ready: Promise<unknown> } | null = null;
  #busy = 0;
  #alarmAtMs: number | null = null;
  #cancelAlarm = () => {};

  constructor(name: string, schedule: Schedule, construct: Construct) {
    this.name = name;
    this.#schedule = schedule;
    this.#construct = construct;
  }

  /** Drops the memory of the object, and rejects the calls that wait for it. */
  evict(): void {
    this.#instance?.life.end();
    this.#instance = null;
  }

  get isIdle(): boolean {
    return this.#instance !== null && this.#busy === 0;
  }

  /**
   * Runs a method of the object, which is constructed from its storage first when it is not in
   * memory.
   */
  async invoke(method: string, given: readonly unknown[]): Promise<unknown> {
    const { self, life, ready } = this.#awake();
    const work = self[method];
    if (typeof work !== 'function') throw new Error(`${this.name} has no ${method}`);
    this.#busy++;
    try {
      const done = this.#schedule.live(life, async () => {
        await ready;
        const name = `${this.name.split(':')[0]}.${method}`;
        return within(name, () => work.apply(self, structuredClone(given)) as unknown);
      });
      let forget = () => {};
      const gone = new Promise<never>((_, reject) => {
        forget = life.onEnd(() => reject(new LostCall('The object is gone (simulated)')));
      });
      const result = structuredClone(await Promise.race([done, gone]));
      forget();
      return result;
    } finally {
      this.#busy--;
    }
  }

  #awake() {
    if (this.#instance?.life.isOver === true) this.#instance = null;
    if (this.#instance !== null) return this.#instance;
    const life = this.#schedule.birth(this.name);
    let ready: Promise<unknown> = Promise.resolve();
    const ctx = {
      storage: this.#storage(),
      waitUntil: (work: Promise<unknown>) => void work.catch(() => {}),
      blockConcurrencyWhile: (work: () => Promise<unknown>) => {
        ready = this.#schedule.live(life, work);
        return ready;
      },
    };
    const self = this.#schedule.live(life, () => this.#construct(ctx as unknown as DurableObjectState)) as Behaviour;
    this.#instance = { self, life, ready };
    return this.#instance;
  }

  /**
   * Writes are durable at once, because the platform's output gate holds every message back until
   * they are.
   */
  #storage() {
    return {
      sql: objectSql(this.db),
      transactionSync: <T>(work: () => T) => this.db.atomic(work),
      setAlarm: async (atMs: number) => this.#setAlarm(atMs),
      kv: {
        get: (key: string) => this.#values.get(key),
        put: (key: string, value: unknown) => this.#keep(key, value),
        delete: (key: string) => this.#values.delete(key),
      },
      get: async (key: string) => this.#values.get(key),
      put: async (entries: Readonly<Record<string, unknown>>) => {
        for (const [key, value] of Object.entries(entries)) this.#keep(key, value);
      },
    };
  }

  #keep(key: string, value: unknown): void {
    checkStored(value);
    this.#values.set(key, structuredClone(value));
  }

  /** @param atMs by the clock of the object that sets the alarm */
  #setAlarm(atMs: number): void {
    this.#cancelAlarm();
    this.#alarmAtMs = atMs;
    this.#cancelAlarm = this.#schedule.after(atMs - this.#schedule.nowMs, () => {
      this.#alarmAtMs = null;
      if (this.#schedule.isLuck(this.#schedule.weather.vanished)) {
        this.#schedule.note(`${this.name} alarm vanished`);
        this.#schedule.counts.faults++;
      } else void this.#ring(1);
    });
  }

  async #ring(time: number): Promise<void> {
    try {
      this.#schedule.note(`${this.name} alarm`);
      await this.invoke('alarm', []);
    } catch {
      // The object has set another alarm in the meantime, which replaces the retry.
      const again = () => (this.#alarmAtMs === null ? void this.#ring(time + 1) : undefined);
      if (time <= ALARM_TRIES) this.#schedule.after(ALARM_RETRY_MS * 2 ** time, again);
    }
  }
}

/** The objects of one class, by name. */
export class ObjectNamespace {
  readonly hosts = new Map<string, ObjectHost>();
  readonly #schedule: Schedule;
  readonly #construct: Construct;

  constructor(schedule: Schedule, construct: Construct) {
    this.#schedule = schedule;
    this.#construct = construct;
  }

  host(name: string): ObjectHost {
    const known = this.hosts.get(name) ?? new ObjectHost(name, this.#schedule, this.#construct);
    this.hosts.set(name, known);
    return known;
  }

  /** Returns the coordinator's stub of an object: every method is a call. */
  getByName(name: string): object {
    const method = (_: object, property: string | symbol) => {
      // A stub must not look like a promise.
      if (typeof property !== 'string' || property === 'then') return undefined;
      return (...given: unknown[]) =>
        this.#schedule.call(`${name}.${property}`, () => this.host(name).invoke(property, given));
    };
    return new Proxy({}, { get: method });
  }

  close(): void {
    for (const host of this.hosts.values()) {
      host.evict();
      host.db.close();
    }
  }
}
