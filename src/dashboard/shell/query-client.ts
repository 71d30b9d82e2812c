import { QueryClient } from '@tanstack/preact-query';
import { Refusal, Unanswered } from '#dashboard/api.ts';

/** Ours: a service that restarts answers within seconds. */
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;

/**
 * Server data of the dashboard. A read without an answer, or over a rate limit, is repeated until
 * it has one: the page shows its last data meanwhile, and the shell says so. Any other refusal is
 * shown. The browser's own notion of "offline" says nothing about the service, so it is not used.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      structuralSharing: false,
      retry: (_count, error) => isTransient(error),
      retryDelay: (count, error) => retryAfterMs(error) ?? Math.min(FIRST_RETRY_MS * 2 ** count, MAX_RETRY_MS),
    },
  },
});

function isTransient(error: Error): boolean {
  if (error instanceof Unanswered) return true;
  return error instanceof Refusal && (error.status === 429 || error.code === 'unavailable');
}

function retryAfterMs(error: Error): number | null {
  if (!(error instanceof Refusal) || error.retryAfterSeconds === null) return null;
  return error.retryAfterSeconds * 1000;
}

/** Reads everything again that the open page shows, except what a form was filled from. */
export function readAgain(): void {
  void queryClient.refetchQueries({ type: 'active', predicate: ({ meta }) => meta?.['isForForm'] !== true });
}
