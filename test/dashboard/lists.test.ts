import type { ClientResponse } from 'hono/client';
import { expect, test, vi } from 'vitest';
import { good } from '#dashboard/api.ts';
import type { ListPage } from '#dashboard/lists.ts';
import { everyPage, firstPages, pageOf } from '#dashboard/lists.ts';

/** Covers that the dashboard reads lists to their end. */

// The client of the dashboard has the origin of its page.
vi.hoisted(() => vi.stubGlobal('location', { origin: 'https://vaults.example.com' }));

interface Numbers extends ListPage {
  readonly numbers: readonly number[];
}

/** Answers like the service with these pages; the cursor is the number of the page. */
function serving(pages: readonly (readonly number[])[]) {
  const read: (string | undefined)[] = [];
  const reader = async ({ cursor }: { readonly cursor?: string }) => {
    read.push(cursor);
    const at = Number.parseInt(cursor ?? '0', 10);
    const nextCursor = at + 1 < pages.length ? String(at + 1) : null;
    return Response.json({ numbers: pages[at], nextCursor }) as unknown as ClientResponse<Numbers>;
  };
  return { reader, read };
}

test('a list is read to its end, and a page by its cursor', async () => {
  const { reader, read } = serving([[1, 2], [], [3]]);
  const pages = await everyPage(reader);
  expect(pages.flatMap(({ numbers }) => numbers)).toEqual([1, 2, 3]);
  expect(read).toEqual([undefined, '1', '2']);
  expect(await pageOf(reader, '2')).toEqual({ numbers: [3], nextCursor: null });
});

test('the first pages of a list are read, and no more', async () => {
  const { reader, read } = serving([[1], [2], [3]]);
  expect((await firstPages(reader, 2)).map(({ nextCursor }) => nextCursor)).toEqual(['1', '2']);
  expect(read).toEqual([undefined, '1']);
  expect(await firstPages(reader, 9)).toHaveLength(3);
});

test('a list without an end is an error, and not a part that looks whole', async () => {
  const endless = async () => Response.json({ numbers: [1], nextCursor: 'a' }) as unknown as ClientResponse<Numbers>;
  await expect(everyPage(endless)).rejects.toThrow('more than 100 pages');
});

test('a list does not compile where one body is expected', async () => {
  const { reader } = serving([[1], [2]]);
  // @ts-expect-error the reader of one body would lose the second page
  const first = await good(reader({}));
  expect(first.nextCursor).toBe('1');
  const ended = Response.json({ data: [1], nextCursor: null }) as unknown as ClientResponse<{ nextCursor: null }>;
  expect(await good(Promise.resolve(ended))).toEqual({ data: [1], nextCursor: null });
});
