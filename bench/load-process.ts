import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { build } from 'hdr-histogram-js';
import type { Socket } from 'node:net';

/**
 * The load generator: its own process, so that it can be pinned to another core than the server.
 * One job per line on standard input, one result per line on standard output.
 */
export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  /** Complete HTTP/1.1 requests. */
  readonly requests: readonly string[];
  /** True to send each request once, false to repeat them cyclically. */
  readonly once: boolean;
  readonly durationMs: number;
  /**
   * Fixed arrivals per second (open loop), or null for as fast as the responses arrive (closed
   * loop).
   */
  readonly ratePerSecond: number | null;
}

export interface LoadResult {
  readonly answered: number;
  readonly elapsedMs: number;
  readonly statuses: Readonly<Record<string, number>>;
  /**
   * Milliseconds; in an open loop from the intended time of sending, so that a stall is not hidden.
   */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const MICROSECONDS = 1000;

async function load(job: LoadJob): Promise<LoadResult> {
  const histogram = build({ highestTrackableValue: 120 * 1000 * MICROSECONDS, numberOfSignificantValueDigits: 3 });
  const statuses: Record<string, number> = {};
  const requests = job.requests.map((text) => Buffer.from(text, 'latin1'));
  const startedAt = performance.now();
  const endsAt = startedAt + job.durationMs;
  let next = 0;
  let answered = 0;

  /** Returns the intended time of request `n`, or null when no more requests follow. */
  const arrival = (n: number): number | null => {
    if (job.once && n >= requests.length) return null;
    const at = job.ratePerSecond === null ? performance.now() : startedAt + (n * 1000) / job.ratePerSecond;
    return at < endsAt ? at : null;
  };

  const run = async (socket: Socket) => {
    const answers = responses(socket);
    for (;;) {
      const n = next;
      next += 1;
      const intendedAt = arrival(n);
      if (intendedAt === null) break;
      await until(intendedAt);
      const sentAt = job.ratePerSecond === null ? performance.now() : intendedAt;
      socket.write(requests[n % requests.length] ?? Buffer.alloc(0));
      const { value: status, done } = await answers.next();
      histogram.recordValue(Math.max(1, Math.round((performance.now() - sentAt) * MICROSECONDS)));
      const outcome = done === true ? 'closed' : String(status);
      statuses[outcome] = (statuses[outcome] ?? 0) + 1;
      if (done === true) break;
      answered += 1;
    }
    socket.destroy();
  };

  const sockets = await Promise.all(Array.from({ length: job.connections }, () => opened(job.port)));
  await Promise.all(sockets.map(run));
  const at = (percentile: number) => histogram.getValueAtPercentile(percentile) / MICROSECONDS;
  const elapsedMs = performance.now() - startedAt;
  return { answered, elapsedMs, statuses, p50Ms: at(50), p95Ms: at(95), p99Ms: at(99), maxMs: at(100) };
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/**
 * Waits until a time. Timers have a resolution of a millisecond: the rest of the wait turns the
 * event loop.
 */
async function until(at: number): Promise<void> {
  for (;;) {
    const leftMs = at - performance.now();
    if (leftMs <= 0) return;
    await new Promise<void>((resolve) => {
      if (leftMs > 2) setTimeout(resolve, leftMs - 1);
      else setImmediate(resolve);
    });
  }
}

/**
 * Yields the status of each response on a connection, one after the other. Bodies are read to their
 * end and discarded.
 */
async function* responses(socket: Socket): AsyncGenerator<number, void> {
  let buffer: Buffer = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
    for (let size = answerSize(buffer); size !== null && buffer.length >= size; size = answerSize(buffer)) {
      const status = Number.parseInt(buffer.toString('latin1', 9, 12), 10);
      buffer = buffer.subarray(size);
      yield status;
    }
  }
}

/**
 * Returns the bytes of the response at the start of the buffer, or null while its end is not known.
 */
function answerSize(buffer: Buffer): number | null {
  const headEnd = buffer.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const head = buffer.toString('latin1', 0, headEnd).toLowerCase();
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  if (length !== undefined) return headEnd + 4 + Number.parseInt(length, 10);
  if (!head.includes('transfer-encoding: chunked')) return headEnd + 4;
  const end = buffer.indexOf('0\r\n\r\n', headEnd);
  return end < 0 ? null : end + 5;
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await load(JSON.parse(line) as LoadJob))}\n`);
}
