import { useEffect, useRef } from 'preact/hooks';
import type { Balance, Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';

interface Heard {
  readonly transaction?: (record: Transaction) => void;
  readonly balance?: (record: Balance) => void;
}

interface Stream {
  readonly source: EventSource;
  readonly listeners: Set<() => Heard>;
}

/** One for each vault, however many parts of a page listen. */
const STREAMS = new Map<string, Stream>();

/** What changes in a vault, as it happens; the browser goes on by itself after a break, from where it was. Null: nothing yet. */
export function useLive(vaultId: string | null, heard: Heard): void {
  const latest = useRef(heard);
  latest.current = heard;
  useEffect(() => {
    if (vaultId === null) return undefined;
    const stream = STREAMS.get(vaultId) ?? opened(vaultId);
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

function opened(vaultId: string): Stream {
  const stream = { source: new EventSource(`/vault/${vaultId}/events`), listeners: new Set<() => Heard>() };
  const { source, listeners } = stream;
  source.addEventListener('transaction', ({ data }: MessageEvent<string>) => {
    for (const listener of listeners) listener().transaction?.(JSON.parse(data) as Transaction);
  });
  source.addEventListener('balance', ({ data }: MessageEvent<string>) => {
    for (const listener of listeners) listener().balance?.(JSON.parse(data) as Balance);
  });
  source.addEventListener('error', () => {
    // Refused, and not only broken off: a session that has ended says so here as everywhere.
    if (source.readyState === EventSource.CLOSED) good(api.user.me.$get()).catch(() => null);
  });
  STREAMS.set(vaultId, stream);
  return stream;
}
