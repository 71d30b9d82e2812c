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
  readonly listeners: Set<() => Listeners>;
}

/** One stream for each vault, shared by all parts of the page. */
const STREAMS = new Map<string, Stream>();

/** The delay before a new stream replaces a refused one. */
const AGAIN_MS = 3_000;

/**
 * Subscribes to the events of a vault; null subscribes to nothing. After a break the browser
 * resumes from the last event by itself. After a refusal (the service restarts, or the rate limit
 * is reached) a new stream starts and `missed` is called.
 */
export function useLive(vaultId: string | null, listeners: Listeners): void {
  const latest = useRef(listeners);
  latest.current = listeners;
  useEffect(() => {
    if (vaultId === null) return undefined;
    const stream = STREAMS.get(vaultId) ?? { source: sourceOf(vaultId), listeners: new Set() };
    if (!STREAMS.has(vaultId)) {
      STREAMS.set(vaultId, stream);
      listen(stream, vaultId);
    }
    const listener = () => latest.current;
    stream.listeners.add(listener);
    return () => {
      stream.listeners.delete(listener);
      if (stream.listeners.size > 0) return;
      stream.source.close();
      STREAMS.delete(vaultId);
    };
  }, [vaultId]);
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
  source.addEventListener('error', () => {
    if (source.readyState !== EventSource.CLOSED) return;
    // This request reports a session that has ended.
    good(api.user.me.$get()).catch(() => null);
    setTimeout(() => again(stream, vaultId), AGAIN_MS);
  });
}

function again(stream: Stream, vaultId: string): void {
  if (STREAMS.get(vaultId) !== stream) return;
  stream.source = sourceOf(vaultId);
  stream.source.addEventListener('open', () => {
    for (const listener of stream.listeners) listener().missed?.();
  });
  listen(stream, vaultId);
}
