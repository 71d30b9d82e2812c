import { useEffect, useState } from 'preact/hooks';

/**
 * Whether the service answers this tab. Each request reports its outcome here (api.ts), and the
 * banner of the shell shows it.
 */
export type Connection =
  | { readonly state: 'connected' }
  /** The last request had no answer. */
  | { readonly state: 'unreachable' }
  /** The last request was over a rate limit. */
  | { readonly state: 'limited'; readonly until: Date }
  /** The session has ended. */
  | { readonly state: 'ended' };

interface Seen {
  readonly connection: Connection;
  /** The time of the last answer; null before the first one. */
  readonly answeredAt: Date | null;
}

let seen: Seen = { connection: { state: 'connected' }, answeredAt: null };
const LISTENERS = new Set<(seen: Seen) => void>();

/** Records the outcome of a request. A limit holds until its end, whatever else is answered. */
export function reportConnection(connection: Connection): void {
  const { connection: before } = seen;
  if (before.state === 'limited' && connection.state === 'connected' && before.until > new Date()) return;
  const hasChanged = connection.state !== seen.connection.state || connection.state === 'limited';
  seen = { connection, answeredAt: connection.state === 'connected' ? new Date() : seen.answeredAt };
  if (!hasChanged) return;
  for (const listener of LISTENERS) listener(seen);
}

/** Returns the present connection, and follows it. */
export function useConnection(): Seen {
  const [shown, show] = useState(seen);
  useEffect(() => {
    show(seen);
    LISTENERS.add(show);
    return () => void LISTENERS.delete(show);
  }, []);
  return shown;
}
