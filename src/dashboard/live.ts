import { useEffect, useRef, useState } from 'preact/hooks';
import type { Balance, Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';

interface Listeners {
  readonly transaction?: (record: Transaction) => void;
  readonly balance?: (record: Balance) => void;
  readonly pending?: (position: string) => void;
  /** Called when events may have been lost. The page must load its data again. */
  readonly missed?: () => void;
}

interface Stream {
  /** The address of a new source. */
  readonly path: () => string;
  source: EventSource;
  /** The refusals since the stream was last open. */
  refusals: number;
  readonly listeners: Set<() => Listeners>;
}

/** One stream for each name, shared by all parts of the page. */
const STREAMS = new Map<string, Stream>();

/** The delay before a new stream replaces a refused one. It doubles with each refusal. */
const AGAIN_MS = 3_000;
const MAX_AGAIN_MS = 60_000;
/** A stream stays open for this long between two pages, because a session has few streams. */
const UNUSED_MS = 2_000;

/**
 * Subscribes to the events of a vault; null subscribes to nothing. After a break the browser
 * resumes from the last event by itself. After a refusal (the service restarts, the rate limit is
 * reached, or too many pages are open) a new stream starts. `missed` is called when it opens, and
 * before each further attempt: a page that gets no stream loads its data again once a minute.
 */
export function useLive(vaultId: string | null, listeners: Listeners): void {
  const path = `/vault/${vaultId}/events`;
  useStream(vaultId === null ? null : path, () => path, listeners);
}

/**
 * Calls when something may have begun or ended to wait for a person, in any vault. The tabs of a
 * browser share one stream: the first one opens it, and another one replaces it when it closes.
 *
 * @param position the position of the list that this tab has; null before it has one
 */
export function useOwnLive(userId: string, position: string | null, changed: () => void): void {
  const name = `conclave events of ${userId}`;
  const latest = useRef({ position, changed });
  latest.current = { position, changed };
  const [opensStream, setOpensStream] = useState(false);
  const channel = useRef<BroadcastChannel | null>(null);
  useEffect(() => {
    const others = new BroadcastChannel(name);
    channel.current = others;
    others.addEventListener('message', () => latest.current.changed());
    const over = new AbortController();
    const ended = new Promise<void>((resolve) => over.signal.addEventListener('abort', () => resolve()));
    const open = () => {
      setOpensStream(true);
      return ended;
    };
    // Rejects when the page ends its wait.
    navigator.locks.request(name, { signal: over.signal }, open).catch(() => {});
    return () => {
      over.abort();
      others.close();
      setOpensStream(false);
    };
  }, [name]);
  const isOpen = opensStream && position !== null;
  useStream(isOpen ? name : null, () => `/user/me/events?after=${latest.current.position}`, {
    pending: (reached) => {
      if (reached === latest.current.position) return;
      latest.current.changed();
      channel.current?.postMessage(null);
    },
  });
}

function useStream(name: string | null, path: () => string, listeners: Listeners): void {
  const latest = useRef(listeners);
  latest.current = listeners;
  useEffect(() => {
    if (name === null) return undefined;
    const stream = STREAMS.get(name) ?? { path, source: new EventSource(path()), refusals: 0, listeners: new Set() };
    if (!STREAMS.has(name)) {
      STREAMS.set(name, stream);
      listen(stream, name);
    }
    const listener = () => latest.current;
    stream.listeners.add(listener);
    return () => {
      stream.listeners.delete(listener);
      if (stream.listeners.size === 0) setTimeout(() => endUnused(stream, name), UNUSED_MS);
    };
  }, [name]);
}

function endUnused(stream: Stream, name: string): void {
  if (stream.listeners.size > 0 || STREAMS.get(name) !== stream) return;
  stream.source.close();
  STREAMS.delete(name);
}

function listen(stream: Stream, name: string): void {
  const { source, listeners } = stream;
  source.addEventListener('transaction', ({ data }: MessageEvent<string>) => {
    for (const listener of listeners) listener().transaction?.(JSON.parse(data) as Transaction);
  });
  source.addEventListener('balance', ({ data }: MessageEvent<string>) => {
    for (const listener of listeners) listener().balance?.(JSON.parse(data) as Balance);
  });
  source.addEventListener('pending', ({ lastEventId }: MessageEvent<string>) => {
    for (const listener of listeners) listener().pending?.(lastEventId);
  });
  source.addEventListener('reload', () => miss(stream));
  source.addEventListener('open', () => {
    stream.refusals = 0;
  });
  source.addEventListener('error', () => {
    if (source.readyState !== EventSource.CLOSED) return;
    // This request reports a session that has ended.
    good(api.user.me.$get()).catch(() => null);
    setTimeout(() => again(stream, name), Math.min(AGAIN_MS * 2 ** stream.refusals++, MAX_AGAIN_MS));
  });
}

function again(stream: Stream, name: string): void {
  if (STREAMS.get(name) !== stream) return;
  if (stream.refusals > 1) miss(stream);
  stream.source = new EventSource(stream.path());
  stream.source.addEventListener('open', () => miss(stream));
  listen(stream, name);
}

function miss({ listeners }: Stream): void {
  for (const listener of listeners) listener().missed?.();
}
