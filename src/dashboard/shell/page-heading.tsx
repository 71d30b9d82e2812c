import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isReturned } from '#dashboard/shell/navigation.ts';

/** The heading of the open page, and the title of the tab. */

const PRODUCT = 'Conclave';
const title = { page: '', count: '' };

function writeTitle(change: Partial<typeof title>): void {
  Object.assign(title, change);
  const { page, count } = title;
  document.title = [count === '' ? '' : `(${count}) `, page === '' ? '' : `${page} · `, PRODUCT].join('');
}

/** Sets the title of the tab. A title has no text that a chain or another person claims. */
export function useTitle(page: string): void {
  useLayoutEffect(() => {
    writeTitle({ page });
    return () => writeTitle({ page: '' });
  }, [page]);
}

/** Sets the number before the title; null removes it. */
export function useTitleCount(count: string | null): void {
  useLayoutEffect(() => {
    writeTitle({ count: count ?? '' });
    return () => writeTitle({ count: '' });
  }, [count]);
}

/** The first page of a tab keeps the focus where the browser has it. */
let isFirstPage = true;

/**
 * The heading of a page. It gets the focus when the page opens, so that a screen reader reads it
 * and the keyboard continues from it. A page that opens by Back keeps its place.
 */
export function PageHeading({ children }: { readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const preventScroll = isReturned();
    const isFirst = isFirstPage;
    isFirstPage = false;
    // A person who already works on the page keeps the focus.
    const isInUse = document.activeElement?.closest('main, dialog') !== null && document.activeElement !== null;
    if (isFirst || isInUse) return;
    if (!preventScroll) scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
