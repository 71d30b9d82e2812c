import { useEffect, useRef } from 'preact/hooks';
import type { Balance, Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';

interface Listeners {
  readonly transaction?: (record: Transaction) => void;
  readonly balance?: (record: Balance) => void;
  /** Something may have happened of which nobody has heard: what is shown has to be asked for again. */
  readonly missed?: () => void;
}

interface Stream {
  source: EventSource;
  readonly listeners: Set<() => Listeners>;
}

/** One for each vault, however many parts of a page listen. */
const STREAMS = new Map<string, Stream>();

/** A stream that was refused is asked for again after this. */
const AGAIN_MS = 3_000;

/**
 * What changes in a vault, as it happens. Null: nothing yet. After a break the browser goes on by itself, from where it was; where it was
 * refused (the service is being replaced, or somebody has asked too often) a new stream begins, and what was missed is asked for.
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
    // A session that has ended says so here as everywhere.
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
