import type { ClientResponse } from 'hono/client';
import type { Balance } from '#dashboard/api.ts';
import { api, bodyOf } from '#dashboard/api.ts';

/**
 * Lists of the service have pages. A reader that takes the first page for the whole list hides what
 * follows, so `good` does not compile for a list: it is read here, to its end or page by page.
 */

/** A page of a list. */
export interface ListPage {
  /** The cursor of the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** The query of the first page is empty. */
type Cursor = { readonly cursor?: string };

type Reader<T extends ListPage> = (query: Cursor) => Promise<ClientResponse<T>>;

/**
 * Ours: ten thousand assets of a vault. A service that never ends a list would occupy the browser
 * for ever.
 */
const MAX_PAGES = 100;

/** Returns one page. */
export function pageOf<T extends ListPage>(read: Reader<T>, cursor: string | null): Promise<T> {
  return bodyOf(read(cursor === null ? {} : { cursor }));
}

/** Returns the first pages of a list, at most this many. */
export async function firstPages<T extends ListPage>(read: Reader<T>, count: number): Promise<readonly T[]> {
  const pages: T[] = [];
  let cursor: string | null = null;
  do {
    const page: T = await pageOf(read, cursor);
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== null && pages.length < count);
  return pages;
}

/** Returns all pages of a list. Throws when the list does not end. */
export async function everyPage<T extends ListPage>(read: Reader<T>): Promise<readonly T[]> {
  const pages = await firstPages(read, MAX_PAGES);
  if (pages.at(-1)?.nextCursor !== null) throw new Error(`The list has more than ${MAX_PAGES} pages.`);
  return pages;
}

/** Names the balances of a vault, so that all parts of the dashboard share what was read. */
export function balancesKey(vaultId: string): string {
  return `balances ${vaultId}`;
}

/** Returns all balances of a vault. */
export async function balancesOf(vaultId: string): Promise<readonly Balance[]> {
  const pages = await everyPage((query) => api.vault[':vaultId'].balances.$get({ param: { vaultId }, query }));
  return pages.flatMap(({ balances }) => balances);
}
