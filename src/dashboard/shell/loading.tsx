import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { Refusal, Unanswered } from '#dashboard/api.ts';
import { Contradiction, Undecidable } from '#dashboard/decision/contradiction.ts';
import { RedStop } from '#dashboard/decision/red-stop.tsx';

interface Failure {
  readonly state: 'failed';
  readonly why: string;
  /** The service contradicts itself, so a repetition proves nothing. */
  readonly isAttack: boolean;
  /** A further attempt has the same result. */
  readonly isForbidden: boolean;
}

export type Loaded<T> = { readonly state: 'loading' } | Failure | { readonly state: 'ready'; readonly value: T };

const LOADING = { state: 'loading' } as const;

/** How the data of a page is kept. */
interface Keeping<T> {
  /** The data fills a form: it is read anew when the form opens, and never changed under it. */
  readonly isForForm?: true;
  /** The data is not read again within this time. */
  readonly freshMs?: number;
  /** Chooses between the shown data and data that was read, which may be older. */
  readonly newer?: (shown: T, read: T) => T;
}

/**
 * Loads the data of a page when it opens and whenever its key changes. The data of one key is never
 * shown under another key. A page that opens again shows its last data while it reads. `change`
 * sets data that arrived in another way. `repeat` replaces a read that is under way, and that may
 * have begun before a command of the reader had its effect.
 *
 * @param key names the data; parts of a page with equal keys share it
 */
export function useLoaded<T>(key: string, load: () => Promise<T>, { isForForm, newer, freshMs = 0 }: Keeping<T> = {}) {
  const client = useQueryClient();
  const queryKey = [key];
  const { data, error, isFetching, refetch } = useQuery<T>({
    queryKey,
    queryFn: load,
    staleTime: freshMs,
    ...(isForForm === true ? { gcTime: 0, meta: { isForForm } } : {}),
    ...(newer === undefined
      ? {}
      : { structuralSharing: (shown, read) => (shown === undefined ? read : newer(shown as T, read as T)) }),
  });
  const reload = () => void refetch();
  const change = (to: (before: T) => T) => {
    client.setQueryData<T>(queryKey, (before) => (before === undefined ? undefined : to(before)));
  };
  const repeat = () => {
    if (client.isFetching({ queryKey }) > 0) reload();
  };
  return { loaded: loadedOf(data, error), isFetching, change, reload, repeat };
}

/** A session that has ended takes nothing off the page: the shell says so. */
function loadedOf<T>(data: T | undefined, error: Error | null): Loaded<T> {
  const isEnded = error instanceof Refusal && error.status === 401;
  if (error !== null && !(isEnded && data !== undefined)) return failureOf(error);
  return data === undefined ? LOADING : { state: 'ready', value: data };
}

function failureOf(error: unknown): Failure {
  return {
    state: 'failed',
    why: reasonOf(error),
    isAttack: error instanceof Contradiction,
    isForbidden: error instanceof Refusal && error.code === 'forbidden',
  };
}

export function reasonOf(error: unknown): string {
  if (error instanceof Refusal && error.status === 429) {
    const seconds = error.retryAfterSeconds ?? 1;
    return `Too many requests. Try again in ${seconds} s. What you typed is kept.`;
  }
  const isForPerson = [Refusal, Unanswered, Contradiction, Undecidable].some((known) => error instanceof known);
  return error instanceof Error && isForPerson ? error.message : 'The dashboard has a fault. Load the page again.';
}

/**
 * Returns how to send a command of the reader, and why the last one failed; null when none did.
 *
 * @param reload is called after a command, to read again what it changed
 */
export function useAttempt(reload: () => void) {
  const [fault, fail] = useState<string | null>(null);
  const attempt = (response: Promise<unknown>) => {
    fail(null);
    response.then(reload, (error: unknown) => fail(reasonOf(error)));
  };
  return { fault, fail, attempt };
}

/** Shows the last error; renders nothing when there is none. */
export function ErrorText({ why }: { readonly why: string | null }) {
  if (why === null) return null;
  return (
    <p class="problem" role="alert">
      {why}
    </p>
  );
}

/**
 * Renders the value when it is loaded. Before that it shows that the value is loading, or the error
 * and a button to retry, unless the reader may not read the value.
 */
export function LoadedContent<T>(props: {
  readonly loaded: Loaded<T>;
  readonly what: string;
  readonly again: () => void;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { loaded, what, again, children } = props;
  switch (loaded.state) {
    case 'loading':
      return <p class="quiet loading">Loading {what}…</p>;
    case 'failed':
      if (loaded.isAttack) return <RedStop why={loaded.why} />;
      return (
        <div class="problem" role="alert">
          <p>{loaded.why}</p>
          {!loaded.isForbidden && (
            <button type="button" onClick={again}>
              Try again
            </button>
          )}
        </div>
      );
    case 'ready':
      return <>{children(loaded.value)}</>;
  }
}
