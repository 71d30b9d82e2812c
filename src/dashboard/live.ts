import { useEffect, useRef } from 'preact/hooks';
import type { Balance, Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';

interface Listeners {
  readonly transaction?: (record: Transaction) => void;
  readonly balance?: (record: Balance) => void;
  /** Called when events may have been lost. The page must load its data again. */
  readonly missed?: () => void;
}

interface Stream {
  source: EventSource;
  /** The refusals since the stream was last open. */
  refusals: number;
  readonly listeners: Set<() => Listeners>;
}

/** One stream for each vault, shared by all parts of the page. */
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
  const latest = useRef(listeners);
  latest.current = listeners;
  useEffect(() => {
    if (vaultId === null) return undefined;
    const stream = STREAMS.get(vaultId) ?? { source: sourceOf(vaultId), refusals: 0, listeners: new Set() };
    if (!STREAMS.has(vaultId)) {
      STREAMS.set(vaultId, stream);
      listen(stream, vaultId);
    }
    const listener = () => latest.current;
    stream.listeners.add(listener);
    return () => {
      stream.listeners.delete(listener);
      if (stream.listeners.size === 0) setTimeout(() => endUnused(stream, vaultId), UNUSED_MS);
    };
  }, [vaultId]);
}

function endUnused(stream: Stream, vaultId: string): void {
  if (stream.listeners.size > 0 || STREAMS.get(vaultId) !== stream) return;
  stream.source.close();
  STREAMS.delete(vaultId);
}

function sourceOf(vaultId: string): EventSource {
  return new EventSource(`/vault/${vaultId}/events`);
}

function listen(stream: Stream, vaultId: string): void {
  const { source, listeners } = stream;
  source.addEventListener('transaction', ({ data }: MessageEvent<string>) => {
    for (const listener of listeners) listener().transaction?.(JSON.parse(data) as Transaction);
  });
  source.addEventListener('balance', ({ data }: MessageEvent<string>) => {
    for (const listener of listeners) listener().balance?.(JSON.parse(data) as Balance);
  });
  source.addEventListener('reload', () => miss(stream));
  source.addEventListener('open', () => {
    stream.refusals = 0;
  });
  source.addEventListener('error', () => {
    if (source.readyState !== EventSource.CLOSED) return;
    // This request reports a session that has ended.
    good(api.user.me.$get()).catch(() => null);
    setTimeout(() => again(stream, vaultId), Math.min(AGAIN_MS * 2 ** stream.refusals++, MAX_AGAIN_MS));
  });
}

function again(stream: Stream, vaultId: string): void {
  if (STREAMS.get(vaultId) !== stream) return;
  if (stream.refusals > 1) miss(stream);
  stream.source = sourceOf(vaultId);
  stream.source.addEventListener('open', () => miss(stream));
  listen(stream, vaultId);
}

function miss({ listeners }: Stream): void {
  for (const listener of listeners) listener().missed?.();
}
