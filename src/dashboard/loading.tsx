import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Refusal } from '#dashboard/api.ts';
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

/**
 * Loads the data of a page when it opens and whenever its key changes. The data of one key is never
 * shown under another key. `change` sets data that arrived in another way.
 */
export function useLoaded<T>(key: string, load: () => Promise<T>) {
  const [{ of, loaded }, set] = useState<{ readonly of: string; readonly loaded: Loaded<T> }>({
    of: key,
    loaded: LOADING,
  });
  const reload = useCallback(() => {
    let isCurrent = true;
    load().then(
      (value) => isCurrent && set({ of: key, loaded: { state: 'ready', value } }),
      (error: unknown) => isCurrent && set({ of: key, loaded: failureOf(error) }),
    );
    return () => (isCurrent = false);
  }, [key]);
  useEffect(() => {
    set({ of: key, loaded: LOADING });
    const leave = reload();
    return () => void leave();
  }, [reload]);
  const change = (to: (before: T) => T) => {
    set((before) =>
      before.of === key && before.loaded.state === 'ready'
        ? { of: key, loaded: { state: 'ready', value: to(before.loaded.value) } }
        : before,
    );
  };
  return { loaded: of === key ? loaded : LOADING, change, reload };
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
  const isForPerson = error instanceof Refusal || error instanceof Contradiction || error instanceof Undecidable;
  return isForPerson ? error.message : 'The server cannot be reached. Check your connection.';
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
      return (
        <p class="quiet loading" role="status">
          Loading {what}…
        </p>
      );
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
