import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { callObject } from '#http/edge/object-call.ts';
import { sessionObject } from '#http/edge/authenticate.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { problem } from '#http/encode/problem.ts';
import { MAX_STREAMS, STREAM_MS } from '#objects/person/stream-slots.ts';
import { personStub } from '#objects/person/stub.ts';
import { errorText } from '#store/error-text.ts';

/**
 * The interval at which a reader receives at least a comment line. The stream then checks again
 * that the session is open.
 */
const BEAT_MS = 20_000;
/** The interval of comment lines in between: writing shows that a reader has disconnected. */
const PULSE_MS = 2_000;
const PULSE = new TextEncoder().encode(':\n\n');
/** The delay before a browser reconnects. */
const RETRY_MS = 2_000;
/** The delay after a refusal because of too many streams. */
const REFUSED_SECONDS = 60;

const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform' };

/** What happened since the last read. */
export interface StreamedEvents {
  /** The blocks of Server-Sent Events; empty when nothing happened. */
  readonly text: string;
  /** The position after them. A browser that reconnects sends it as `Last-Event-ID`. */
  readonly id: string;
}

/** How long to wait for what follows a position. */
export interface Wait {
  readonly after: string;
  readonly waitMs: number;
  /** The reader has disconnected. */
  readonly signal: AbortSignal;
}

/** The source of one stream. */
export interface EventStreamSource {
  /** The position at which the stream starts, and events that precede everything else. */
  readonly first: StreamedEvents;
  /**
   * Returns what happened after a position: at once, or as soon as something happens, or nothing
   * after the time. Null when the reader has lost access. It need not end after the signal.
   */
  readonly next: (position: Wait) => Promise<StreamedEvents | null>;
}

/**
 * Answers with a stream of Server-Sent Events. It ends after ten minutes, when the session ends, or
 * when the source ends it. Refuses `quota-exceeded` for a session or a person with too many open
 * streams.
 */
export async function eventStream(context: HttpContext, source: EventStreamSource): Promise<Response> {
  // No reader would read the body of such a stream, so it would hold its slot for ten minutes.
  if (context.req.method === 'HEAD') return context.body(null, 200, HEADERS);
  const { user, tokenId: sessionId } = context.get('caller');
  const streamId = crypto.randomUUID();
  const person = () => personStub(context.env, user.id);
  if (!(await callObject(person, (object) => object.openStream({ streamId, sessionId })))) {
    return problem(context, 'quota-exceeded', {
      detail: `At most ${MAX_STREAMS.session} streams of a session, and ${MAX_STREAMS.person} of a person, are open.`,
      headers: { 'retry-after': String(REFUSED_SECONDS) },
    });
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const stream = async () => {
    await writeEvents(context, source, writable);
    await closeStream(context, streamId);
  };
  context.executionCtx.waitUntil(stream());
  return context.body(readable, 200, HEADERS);
}

/**
 * Returns the position after which a browser continues; null when it opens its first stream.
 * Refuses `invalid-request` for a text of another form than the positions of this stream.
 */
export function lastEventId(context: HttpContext, form: RegExp): Result<string | null, Response> {
  const id = context.req.header('last-event-id') ?? '';
  if (id === '') return accepted(null);
  const fault = { pointer: 'Last-Event-ID', code: 'invalid', detail: 'Must be the id of an event.' };
  return form.test(id) ? accepted(id) : refused(invalidRequest(context, [fault]));
}

/** Returns one event. `JSON.stringify` writes no line breaks, so the data fits on one line. */
export function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n`;
}

/** If this fails, the slot of the stream becomes free some time after the end of the stream. */
async function closeStream(context: HttpContext, streamId: string): Promise<void> {
  const { user } = context.get('caller');
  try {
    await personStub(context.env, user.id).closeStream(streamId);
  } catch (error) {
    console.warn(JSON.stringify({ event: 'stream-not-closed', error: errorText(error) }));
  }
}

/**
 * Writes until the reader disconnects, or the time of the stream is over. Any fault also ends the
 * stream, and the browser reconnects.
 */
async function writeEvents(
  context: HttpContext,
  { first, next }: EventStreamSource,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const endMs = Date.now() + STREAM_MS;
  const { signal, disconnected } = disconnection(context, writer);
  const pulse = setInterval(() => void writer.write(PULSE).catch(() => {}), PULSE_MS);
  try {
    let after = first.id;
    await writer.write(encoder.encode(`${first.text}retry: ${RETRY_MS}\nid: ${after}\n\n`));
    while (Date.now() < endMs) {
      const waitMs = Math.min(BEAT_MS, endMs - Date.now());
      const events = await Promise.race([next({ after, waitMs, signal }), disconnected]);
      // The session is checked after the wait: one that ended meanwhile receives no event.
      if (events === null || !(await isSessionOpen(context))) break;
      // Only the last event carries the id: a reader that loses the connection in between receives
      // all of them again.
      await writer.write(events.id === after ? PULSE : encoder.encode(`${events.text}id: ${events.id}\n\n`));
      after = events.id;
    }
  } catch {
    // The response has already begun, so no error can be sent.
  }
  clearInterval(pulse);
  await writer.close().catch(() => {});
}

function disconnection(context: HttpContext, writer: WritableStreamDefaultWriter<Uint8Array>) {
  const over = new AbortController();
  const disconnected = new Promise<null>((resolve) => {
    const end = () => {
      over.abort();
      resolve(null);
    };
    context.req.raw.signal.addEventListener('abort', end);
    writer.closed.then(end, end);
  });
  return { signal: over.signal, disconnected };
}

async function isSessionOpen(context: HttpContext): Promise<boolean> {
  const { tokenId, sessionHash } = context.get('caller');
  return sessionObject(context, tokenId).isOpen(sessionHash ?? '');
}
