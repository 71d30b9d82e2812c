import { useEffect, useRef } from 'preact/hooks';
import { announce } from '#dashboard/shell/announcement.tsx';
import type { Connection } from '#dashboard/shell/connection.ts';
import { reportConnection, useConnection } from '#dashboard/shell/connection.ts';
import { loginAddress } from '#dashboard/shell/navigation.ts';
import { queryClient, readAgain } from '#dashboard/shell/query-client.ts';
import { clockText, secondsText } from '#dashboard/times.ts';

/** The query that the shell repeats until the service answers. */
const PROBE = ['me'] as const;

/**
 * Shows that the service does not answer, or that the session has ended, below a page that keeps
 * its content and what is typed in it.
 */
export function ConnectionBanner({ isLoggedIn }: { readonly isLoggedIn: boolean }) {
  const { connection, answeredAt } = useConnection();
  useRecovery(connection);
  const isWelcome = connection.state === 'ended' && !isLoggedIn;
  const text = isWelcome ? null : textOf(connection, answeredAt);
  useEffect(() => {
    if (text !== null) announce(text);
  }, [text]);
  if (text === null) return null;
  return (
    <section class="banner" aria-label="Connection">
      <p>{text}</p>
      {connection.state === 'ended' ? (
        <a class="button" href={loginAddress()}>
          Log in again
        </a>
      ) : (
        connection.state === 'unreachable' && (
          <button type="button" onClick={readAgain}>
            Try now
          </button>
        )
      )}
    </section>
  );
}

function textOf(connection: Connection, answeredAt: Date | null): string | null {
  switch (connection.state) {
    case 'connected':
      return null;
    case 'unreachable':
      return `Reconnecting.${answeredAt === null ? '' : ` This page is as of ${clockText(answeredAt)}.`}`;
    case 'limited':
      return `Too many requests. The page continues at ${secondsText(connection.until)}.`;
    case 'ended':
      return 'Your session has ended. Log in again to continue: you return to this page, and typed text is kept.';
  }
}

/**
 * Repeats a request until the service answers, and then reads the page again. The events of the
 * browser only start an attempt earlier.
 */
function useRecovery(connection: Connection): void {
  const { state } = connection;
  const hasMissed = useRef(false);
  useEffect(() => {
    const lose = () => reportConnection({ state: 'unreachable' });
    addEventListener('offline', lose);
    addEventListener('online', readAgain);
    return () => {
      removeEventListener('offline', lose);
      removeEventListener('online', readAgain);
    };
  }, []);
  useEffect(() => {
    // After a rate limit each refused read repeats itself. Further reads would reach it again.
    if (state === 'connected' && hasMissed.current) readAgain();
    hasMissed.current = state === 'unreachable' || state === 'ended' || (hasMissed.current && state === 'limited');
    if (state === 'unreachable') void queryClient.refetchQueries({ queryKey: PROBE });
    if (connection.state !== 'limited') return undefined;
    const end = () => reportConnection({ state: 'connected' });
    const timer = setTimeout(end, Math.max(0, connection.until.getTime() - Date.now()));
    return () => clearTimeout(timer);
  }, [connection]);
}
