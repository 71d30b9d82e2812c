import { Inspector } from './inspector.ts';

/** What V8 says of one isolate, in bytes (`Runtime.getHeapUsage`). */
interface HeapUsage {
  readonly usedSize: number;
  /** Taken for the heap, whether something is in it or not. */
  readonly totalSize: number;
  readonly embedderHeapUsedSize: number;
  /** Of array buffers and the like, beside the heap. */
  readonly backingStorageSize: number;
}

/** Of one isolate, in bytes. */
export interface Memory {
  /** With what nobody needs any more: here nothing bids V8 hurry to collect it, as a limit would. */
  readonly most: number;
  /** The least that was in use in the last seconds, which is what V8 had left after it collected. */
  readonly inUse: number;
}

const POLL_MS = 50;
/** Ten seconds: under load V8 collects several times in them. */
const LAST_POLLS = 200;

/** The memory of each isolate while somebody looks. */
export class MemoryWatch {
  readonly #peaks = new Map<string, number>();
  /** Bytes in use at the last looks. */
  readonly #used = new Map<string, number[]>();
  readonly #inspectors: ReadonlyMap<string, Inspector>;
  readonly #observations: NodeJS.Timeout;
  /** What an isolate said that can not be looked at. */
  #fault: Error | null = null;

  private constructor(inspectors: ReadonlyMap<string, Inspector>) {
    this.#inspectors = inspectors;
    this.#observations = setInterval(() => {
      this.#observation().catch((error: Error) => (this.#fault ??= error));
    }, POLL_MS);
  }

  static async at(inspectorUrl: string): Promise<MemoryWatch> {
    return new MemoryWatch(await Inspector.ofAll(inspectorUrl));
  }

  /** By the name of the Worker. Throws where an isolate could not be looked at. */
  stop(): ReadonlyMap<string, Memory> {
    clearInterval(this.#observations);
    for (const inspector of this.#inspectors.values()) inspector.close();
    if (this.#fault !== null) throw this.#fault;
    return new Map([...this.#peaks].map(([name, most]) => [name, { most, inUse: Math.min(...this.#usedBy(name)) }]));
  }

  async #observation(): Promise<void> {
    const observations = [...this.#inspectors].map(async ([name, inspector]) => {
      const usage = (await inspector.call('Runtime.getHeapUsage')) as HeapUsage;
      const beside = usage.embedderHeapUsedSize + usage.backingStorageSize;
      this.#peaks.set(name, Math.max(usage.totalSize + beside, this.#peaks.get(name) ?? 0));
      this.#used.set(name, [...this.#usedBy(name), usage.usedSize + beside].slice(-LAST_POLLS));
    });
    await Promise.all(observations);
  }

  #usedBy(name: string): readonly number[] {
    return this.#used.get(name) ?? [];
  }
}
