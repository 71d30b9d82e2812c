import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The limits of the platform, which no local runtime has. The tests run Workers whose bindings
 * count what one invocation uses. `docs/limits.md` has the source of each.
 */
export const LIMITS = {
  /** Calls of other Workers through service bindings, of one invocation. */
  'service calls': 32,
  /** Calls of anything, of one invocation; on the free plan 50. */
  subrequests: 10_000,
  /** Statements for D1, of one invocation. */
  'D1 statements': 1_000,
  /** Requests to other servers that wait for their answer at the same time. */
  'open connections': 6,
  'bytes of a queue message': 128_000,
  'messages of a queue batch': 100,
  'bytes of a queue batch': 256_000,
  'parameters of a statement': 100,
  'bytes of a statement': 100_000,
  /** Of the parameters of one statement. A row that it writes has no more. */
  'bytes of a row': 2_000_000,
  /** Of a value of an object's storage. */
  'bytes of a stored value': 2_000_000,
  /** Of the arguments, or of the result, of a call of an object. */
  'bytes of a call': 32 * 1024 * 1024,
  /** Of the headers of a request, in either direction. */
  'bytes of headers': 128 * 1024,
} as const;

export type Limit = keyof typeof LIMITS;

/** Thrown where the platform refuses. */
export class LimitExceeded extends Error {}

interface Highest {
  readonly value: number;
  /** The invocation that reached it. */
  readonly name: string;
}

/** What the invocations of this process have used. */
export interface Meter {
  readonly exceeded: string[];
  readonly highest: Partial<Record<Limit, Highest>>;
}

const meter: Meter = { exceeded: [], highest: {} };

/** Tests in the same isolate read the meter of a bundled Worker from here. */
Object.assign(globalThis, { platformMeter: meter });

/** Returns the meter of this process or isolate. */
export function meterHere(): Meter {
  return (globalThis as unknown as { readonly platformMeter?: Meter }).platformMeter ?? meter;
}

/** Adds the highest uses of another process to those of this one. */
export function raise(others: Meter['highest']): void {
  for (const [limit, other] of Object.entries(others) as [Limit, Highest][]) {
    if (other.value > (meter.highest[limit]?.value ?? 0)) meter.highest[limit] = other;
  }
}

interface Invocation {
  readonly name: string;
  readonly used: Map<Limit, number>;
  readonly connections: { open: number; readonly waiting: (() => void)[] };
}

const invocations = new AsyncLocalStorage<Invocation>();

/** Runs one invocation of a Worker or of an object. What it calls counts for it. */
export function within<T>(name: string, run: () => T): T {
  return invocations.run({ name, used: new Map(), connections: { open: 0, waiting: [] } }, run);
}

/** Counts for the current invocation. Outside of any, nothing is counted. */
export function count(limit: Limit, by = 1): void {
  const invocation = invocations.getStore();
  if (invocation === undefined) return;
  const used = (invocation.used.get(limit) ?? 0) + by;
  invocation.used.set(limit, used);
  check(limit, used);
}

/**
 * Runs a request to another server when a connection is free. The platform refuses no request: the
 * seventh waits until one of six has its answer.
 */
export async function onConnection<T>(run: () => Promise<T>): Promise<T> {
  const invocation = invocations.getStore();
  if (invocation === undefined) return run();
  const { connections } = invocation;
  if (connections.open >= LIMITS['open connections']) await new Promise<void>((go) => connections.waiting.push(go));
  else connections.open += 1;
  check('open connections', connections.open);
  try {
    return await run();
  } finally {
    // The slot goes to the next request, or is free.
    const next = connections.waiting.shift();
    if (next === undefined) connections.open -= 1;
    else next();
  }
}

/** Compares one value with its limit. Throws `LimitExceeded` above it. */
export function check(limit: Limit, value: number): void {
  const name = invocations.getStore()?.name ?? 'no invocation';
  if (value > (meter.highest[limit]?.value ?? 0)) meter.highest[limit] = { value, name };
  if (value <= LIMITS[limit]) return;
  const text = `${name}: ${value} ${limit}, and the platform has ${LIMITS[limit]}`;
  meter.exceeded.push(text);
  // The log of a stack shows it to a test in another process.
  console.error(JSON.stringify({ event: 'limit-exceeded', text }));
  throw new LimitExceeded(text);
}

const ENCODER = new TextEncoder();

/** Returns about the number of bytes of a value when it is sent. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length < 1_000 ? value.length : ENCODER.encode(value).length;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 8;
  if (value instanceof Map || value instanceof Set) return sizeOf([...value]);
  let bytes = 8;
  for (const [name, inner] of Object.entries(value)) bytes += name.length + sizeOf(inner);
  return bytes;
}
