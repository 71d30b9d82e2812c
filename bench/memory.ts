import { Inspector } from './inspector.ts';

/** The memory of one isolate as V8 reports it, in bytes (`Runtime.getHeapUsage`). */
interface HeapUsage {
  readonly usedSize: number;
  /** The size of the heap, used or not. */
  readonly totalSize: number;
  readonly embedderHeapUsedSize: number;
  /** Memory of array buffers and similar data, outside the heap. */
  readonly backingStorageSize: number;
}

/** The memory of one isolate, in bytes. */
export interface Memory {
  /** Includes garbage: without a memory limit V8 collects it late. */
  readonly most: number;
  /** The minimum in use in the last seconds, which V8 had left after a collection. */
  readonly inUse: number;
}

const POLL_MS = 50;
/** Ten seconds: under load V8 collects several times in them. */
const LAST_POLLS = 200;

/** The memory of each isolate during a measurement. */
export class MemoryWatch {
  readonly #peaks = new Map<string, number>();
  /** Bytes in use at the last polls. */
  readonly #used = new Map<string, number[]>();
  readonly #inspectors: ReadonlyMap<string, Inspector>;
  readonly #observations: NodeJS.Timeout;
  /** The error of an isolate that could not be polled. */
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

  /** Returns the memory by the name of the Worker. Throws when an isolate could not be polled. */
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
