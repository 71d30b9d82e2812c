import type { KeyObject } from 'node:crypto';
import { createHash, createHmac, createSecretKey, verify } from 'node:crypto';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { ed25519Key } from '../../mpc/ed25519-key.ts';
import type { Schedule } from '../schedule.ts';

const RealDate = Date;

/**
 * The schedule of the history that runs. Modules are loaded once for all histories, so their calls
 * use this variable.
 */
let running: Schedule | null = null;

function now(): number {
  return running === null ? RealDate.now() : running.nowMs + running.skewMs;
}

class SimulatedDate extends RealDate {
  constructor(...given: [] | [number | string | Date]) {
    super(given[0] ?? now());
  }

  static override now(): number {
    return now();
  }
}

/** Returns the schedule of the history that runs; throws when none runs. */
function current(): Schedule {
  if (running === null) throw new Error('nothing is simulated');
  return running;
}

const timers = new Map<number, () => void>();
let lastTimer = 0;

function startTimer(run: () => void, delayMs = 0): number {
  const schedule = current();
  const life = schedule.current;
  const id = ++lastTimer;
  const fire = () => {
    timers.delete(id);
    if (life === null) run();
    else if (!life.isOver) schedule.live(life, run);
  };
  timers.set(id, schedule.after(delayMs, fire));
  return id;
}

function stopTimer(id: number | undefined): void {
  if (id === undefined) return;
  timers.get(id)?.();
  timers.delete(id);
}

function abortedAfter(delayMs: number): AbortSignal {
  const over = new AbortController();
  startTimer(() => over.abort(new DOMException('The operation timed out.', 'TimeoutError')), delayMs);
  return over.signal;
}

async function wait(delayMs: number, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const id = startTimer(resolve, delayMs);
    signal?.addEventListener('abort', () => {
      stopTimer(id);
      reject(signal.reason as Error);
    });
  });
}

function randomBytes<T extends ArrayBufferView>(view: T): T {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let i = 0; i < bytes.length; i++) bytes[i] = current().upTo(256);
  return view;
}

function randomId(): string {
  const hex = Buffer.from(randomBytes(new Uint8Array(16))).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/**
 * The cryptography of the platform. It runs synchronously, because the platform's functions end at
 * a time that no schedule controls.
 */
async function importKey(
  _format: 'raw',
  bytes: Uint8Array,
  algorithm: 'Ed25519' | { readonly name: 'HMAC' },
): Promise<KeyObject> {
  return algorithm === 'Ed25519' ? ed25519Key(bytes) : createSecretKey(bytes);
}

async function sign(_algorithm: 'HMAC', key: KeyObject, message: Uint8Array) {
  return createHmac('sha256', key).update(message).digest();
}

async function digest(_algorithm: 'SHA-256', message: Uint8Array) {
  return createHash('sha256').update(message).digest();
}

async function verifyNow(_algorithm: 'Ed25519', key: KeyObject, signature: Uint8Array, message: Uint8Array) {
  return verify(null, message, key, signature);
}

/** Returns the text of a request's body; the simulation sends no other bodies. */
export function textSent({ body }: RequestInit): string {
  if (typeof body !== 'string') throw new Error('a request carries text');
  return body;
}

/** The network as the simulated parts see it. */
export type Network = (url: string, init: RequestInit) => Promise<Response>;
let network: Network | null = null;

/**
 * Replaces time, randomness and network by those of the simulation, for the lifetime of this
 * process.
 */
export function takeOverPlatform(): void {
  Object.assign(globalThis, {
    Date: SimulatedDate,
    setTimeout: startTimer,
    clearTimeout: stopTimer,
    scheduler: { wait },
    fetch: async (input: string, init: RequestInit = {}) => {
      if (network === null) throw new Error('there is no network');
      return network(input, init);
    },
  });
  Object.assign(AbortSignal, { timeout: abortedAfter });
  // Only libraries use Math.random, for internal names in a store of theirs that outlives a
  // history.
  Object.assign(Math, { random: seededRandom(1) });
  Object.defineProperty(crypto, 'getRandomValues', { value: randomBytes });
  Object.defineProperty(crypto, 'randomUUID', { value: randomId });
  Object.defineProperty(crypto, 'subtle', { value: { importKey, verify: verifyNow, sign, digest } });
}

/** Sets the schedule that provides time and randomness from now on; null for none. */
export function simulate(schedule: Schedule | null, reached: Network | null): void {
  running = schedule;
  network = reached;
  timers.clear();
}
