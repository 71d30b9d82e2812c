import type { Page } from 'playwright-core';

/**
 * Returns what a person cannot read on the open page: content beyond the edge of the window, an
 * amount or an address that is clipped, and different addresses whose shown text is the same.
 */
export function layoutFaultsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    const named = (element: Element) =>
      `${element.tagName.toLowerCase()}.${element.className}: ${(element.textContent ?? '').slice(0, 60)}`;
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > innerWidth) faults.push(`the page is ${scrollWidth} wide, the window ${innerWidth}`);
    const isUnseen = (element: Element) =>
      element.closest('.unseen, .skip, details:not([open]) > :not(summary)') !== null;
    for (const element of document.querySelectorAll(
      'h1, h2, h3, h4, p, li, dt, dd, td, th, code, a, button, label, input, select, .amount',
    )) {
      const { left, right, width } = element.getBoundingClientRect();
      // What lies wholly to the left is for screen readers.
      if (width === 0 || right <= 0 || isUnseen(element)) continue;
      if (left < -1 || right > innerWidth + 1) faults.push(`beyond the edge: ${named(element)}`);
      const { overflowX, textOverflow } = getComputedStyle(element);
      const isCut = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
      const isText = !element.matches('input, select');
      if (isText && isCut && (overflowX !== 'visible' || textOverflow === 'ellipsis'))
        faults.push(`clipped: ${named(element)}`);
    }
    const shown = new Map<string, string>();
    for (const element of document.querySelectorAll('code[title]')) {
      const [text, whole] = [element.textContent ?? '', (element.getAttribute('title') ?? '').toLowerCase()];
      const other = shown.get(text) ?? whole;
      if (other !== whole) faults.push(`two addresses are both shown as ${text}: ${other} and ${whole}`);
      shown.set(text, whole);
    }
    return [...new Set(faults)];
  });
}
