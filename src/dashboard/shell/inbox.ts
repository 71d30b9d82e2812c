import type { InferResponseType } from 'hono/client';
import { useEffect, useRef } from 'preact/hooks';
import { api } from '#dashboard/api.ts';
import { firstPages } from '#dashboard/lists.ts';
import type { Loaded } from '#dashboard/shell/loading.tsx';
import { useLoaded } from '#dashboard/shell/loading.tsx';

type Page = InferResponseType<typeof api.user.me.notifications.$get>;
export type InboxItem = Page['data'][number];

/** The notifications of the reader, the newest first. */
export interface Inbox {
  readonly items: readonly InboxItem[];
  readonly hasMore: boolean;
  /** The number of unread ones on all pages. */
  readonly unread: number;
}

export interface InboxList {
  readonly loaded: Loaded<Inbox>;
  readonly reload: () => void;
  /** Loads one page more. */
  readonly more: () => void;
  /** Shows all loaded ones as read, after the service has recorded it. */
  readonly markRead: () => void;
}

/** The path of the page that shows the inbox. */
const PAGE = '/notifications';
/** A session has a limit of reads, and a signer opens many pages in a minute. */
const FRESH_MS = 30_000;

/**
 * Loads the inbox: at first, on its page, on another page after half a minute, and whenever
 * something has begun or ended to wait for the reader, which most events of the inbox cause.
 *
 * @param position of the list of what waits for the reader
 */
export function useInbox(path: string, position: string | null): InboxList {
  const pages = useRef(1);
  const { loaded, reload, change, repeat } = useLoaded<Inbox>('inbox', () => read(pages.current));
  const seen = useRef({ path, position, atMs: Date.now() });
  useEffect(() => {
    const { current } = seen;
    const isOld = current.path !== path && (path === PAGE || Date.now() - current.atMs > FRESH_MS);
    // The first position is that of the first load.
    const isOutdated = current.position !== position && current.position !== null;
    if (isOld || isOutdated) reload();
    seen.current = { path, position, atMs: isOld || isOutdated ? Date.now() : current.atMs };
  }, [path, position]);
  const more = () => {
    pages.current += 1;
    reload();
  };
  const markRead = () => {
    const readAt = new Date().toISOString();
    const marked = (item: InboxItem) => ({ ...item, readAt: item.readAt ?? readAt });
    change((inbox) => ({ ...inbox, items: inbox.items.map(marked), unread: 0 }));
    // Its answer would show them as unread again.
    repeat();
  };
  return { loaded, reload, more, markRead };
}

/** Returns the number of unread notifications; null while none is known. */
export function unreadCount(loaded: Loaded<Inbox>): number | null {
  return loaded.state === 'ready' && loaded.value.unread > 0 ? loaded.value.unread : null;
}

async function read(count: number): Promise<Inbox> {
  const pages = await firstPages<Page>((query) => api.user.me.notifications.$get({ query }), count);
  return {
    items: pages.flatMap(({ data }) => data),
    hasMore: pages.at(-1)?.nextCursor != null,
    unread: pages[0]?.unread ?? 0,
  };
}
