import { createExecutionContext } from 'cloudflare:test';
import { afterEach, expect } from 'vitest';
import type { Promises } from '../worker/main.ts';
import { coordinator } from './scene.worker.ts';

interface Received {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly id: string | null;
}

interface Listener {
  readonly cookie: string;
  readonly lastEventId?: string | undefined;
  /** GET when absent. */
  readonly method?: 'HEAD';
  /** The first block has an event. */
  readonly isReloaded?: boolean;
}

const open = new Set<() => Promise<void>>();
afterEach(async () => {
  for (const close of open) await close();
  open.clear();
});

/** Closes a stream after the test. */
export function keepOpen(close: () => Promise<void>): void {
  open.add(close);
}

/** Requests a stream. */
export async function connectTo(path: string, { cookie, lastEventId, method }: Listener): Promise<Response> {
  const { app } = (globalThis as unknown as { promises: Promises }).promises;
  const headers = { cookie, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const request = new Request(`http://conclave.test${path}`, { method: method ?? 'GET', headers });
  return app.fetch(request, coordinator, createExecutionContext());
}

/** Opens a stream and reads its events one after the other, as a browser does. */
export async function listenTo(path: string, listener: Listener) {
  const response = await connectTo(path, listener);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  // A stream does not count as a read, so a person with many open pages can continue to read.
  expect(response.headers.get('ratelimit-policy')).toBe('"stream";q=60;w=60');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error('a stream has a body');
  const close = () => reader.cancel();
  keepOpen(close);
  const state = { text: '', lastId: '' };
  const block = async (): Promise<ReadonlyMap<string | undefined, string> | null> => {
    while (!state.text.includes('\n\n')) {
      const { value, done } = await reader.read();
      if (done) return null;
      state.text += value;
    }
    const [first = '', ...rest] = state.text.split('\n\n');
    state.text = rest.join('\n\n');
    const fields = new Map(first.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]));
    state.lastId = fields.get('id') ?? state.lastId;
    return fields;
  };
  /** Returns the next event, or null when the stream has ended. */
  const next = async (): Promise<Received | null> => {
    for (;;) {
      const fields = await block();
      if (fields === null) return null;
      const data = fields.get('data');
      if (data === undefined) continue;
      return { event: fields.get('event') ?? '', data: JSON.parse(data), id: fields.get('id') ?? null };
    }
  };
  // The first block of most streams has no event. It contains the position at which they start.
  if (listener.isReloaded !== true) await block();
  return { next, close, lastId: () => state.lastId };
}
