import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Refusal } from '#dashboard/api.ts';

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly why: string }
  | { readonly state: 'ready'; readonly value: T };

const LOADING = { state: 'loading' } as const;

/**
 * What a page shows, asked for when it opens and whenever its key changes: what was there under another key is not shown under this one, not
 * for a moment. `change` is for what comes by another way.
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
      (error: unknown) => isCurrent && set({ of: key, loaded: { state: 'failed', why: reasonOf(error) } }),
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

export function reasonOf(error: unknown): string {
  return error instanceof Refusal ? error.message : 'The server cannot be reached. Check your connection.';
}

/** What has just gone wrong, said at once; nothing while nothing has. */
export function ErrorText({ why }: { readonly why: string | null }) {
  if (why === null) return null;
  return (
    <p class="problem" role="alert">
      {why}
    </p>
  );
}

/** The value, or in its place that it is on its way, or why it is not there, with a way to try again. */
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
      return (
        <div class="problem" role="alert">
          <p>{loaded.why}</p>
          <button type="button" onClick={again}>
            Try again
          </button>
        </div>
      );
    case 'ready':
      return <>{children(loaded.value)}</>;
  }
}
