import { createContext } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';
import type { InferResponseType } from 'hono/client';
import type { OwnVault } from '#dashboard/api.ts';
import { api } from '#dashboard/api.ts';
import { firstPages } from '#dashboard/lists.ts';
import { useLive, useOwnLive } from '#dashboard/live.ts';
import type { Loaded } from '#dashboard/shell/loading.tsx';
import { useLoaded } from '#dashboard/shell/loading.tsx';

type Page = InferResponseType<typeof api.user.me.pending.$get>;
export type PendingItem = Page['data'][number];

/** What waits for the reader in all vaults. */
export interface Pending {
  readonly items: readonly PendingItem[];
  /** The number of items on all pages. */
  readonly total: number;
  readonly hasMore: boolean;
  /** The vaults in which more may wait. */
  readonly incompleteVaults: readonly number[];
  /** The position of the list, after which the stream of the person continues. */
  readonly position: string;
}

interface Reader {
  readonly userId: string;
  readonly vaults: readonly Pick<OwnVault, 'id'>[];
  /** The path of the open page. */
  readonly path: string;
}

export interface PendingList {
  readonly loaded: Loaded<Pending>;
  /** The position of the list; null before it is loaded. */
  readonly position: string | null;
  readonly reload: () => void;
  /** Loads one page more. */
  readonly more: () => void;
}

/**
 * Loads what waits for the reader: at first, on each page that opens, when the window gets the
 * focus, after each change of a transaction of the open vault, and within seconds after a change in
 * another vault. One request runs at a time, and a change during a request is loaded by the next
 * one.
 */
export function usePending({ path, vaults, userId }: Reader): PendingList {
  const pages = useRef(1);
  const isOutdated = useRef(false);
  const { loaded, isFetching, reload: load } = useLoaded<Pending>('pending', () => read(pages.current));
  const reload = () => {
    isOutdated.current = isFetching;
    if (!isFetching) load();
  };
  useEffect(() => {
    if (!isFetching && isOutdated.current) reload();
  }, [isFetching]);
  const opened = useRef(path);
  useEffect(() => {
    if (opened.current !== path) reload();
    opened.current = path;
  }, [path]);
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    const again = () => latest.current();
    addEventListener('focus', again);
    return () => removeEventListener('focus', again);
  }, []);
  const streamed = streamedVault(path);
  useLive(vaults.some(({ id }) => String(id) === streamed) ? streamed : null, {
    // Others' activity waits for no decision.
    transaction: ({ kind }) => kind !== 'activity' && reload(),
    missed: reload,
  });
  const position = loaded.state === 'ready' ? loaded.value.position : null;
  useOwnLive(userId, position, reload);
  const more = () => {
    pages.current += 1;
    reload();
  };
  return { loaded, position, reload, more };
}

/** The position of the list of what waits for the reader; null before the list is loaded. */
export const PendingPosition = createContext<string | null>(null);

/**
 * Loads a list of decisions again when a transaction, a policy change or a credential reset has
 * begun or ended in any vault of the reader.
 */
export function useDecisions(reload: () => void): void {
  const position = useContext(PendingPosition);
  const seen = useRef(position);
  useEffect(() => {
    if (seen.current !== position) reload();
    seen.current = position;
  }, [position]);
}

async function read(count: number): Promise<Pending> {
  const pages = await firstPages<Page>((query) => api.user.me.pending.$get({ query }), count);
  return {
    items: pages.flatMap(({ data }) => data),
    total: pages[0]?.total ?? 0,
    hasMore: pages.at(-1)?.nextCursor != null,
    incompleteVaults: pages[0]?.incompleteVaults ?? [],
    position: pages[0]?.position ?? '',
  };
}

/** Returns the vault whose stream the page at this path has open anyway, or null. */
function streamedVault(path: string): string | null {
  return (
    /^\/(?:vault\/([0-9]+)|transaction\/([0-9]+)\..*)$/
      .exec(path)
      ?.slice(1)
      .find((id) => id !== undefined) ?? null
  );
}

/** Returns the number of items for the menu and the title; null while none is known to wait. */
export function countText(loaded: Loaded<Pending>): string | null {
  if (loaded.state !== 'ready') return null;
  const { total, incompleteVaults } = loaded.value;
  if (incompleteVaults.length > 0) return `${total}+`;
  return total === 0 ? null : String(total);
}
