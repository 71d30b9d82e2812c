import * as z from 'zod';

/** A page of a list, and the cursor of the next page. */
interface RowPage<T> {
  readonly shown: readonly T[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * Returns the first rows of a list. The caller reads one row more than it shows, which says whether
 * there is another page.
 *
 * @param cursorOf the cursor after the last shown row
 */
export function pageOf<T>(rows: readonly T[], limit: number, cursorOf: (last: T) => string): RowPage<T> {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { shown, nextCursor: last === undefined ? null : cursorOf(last) };
}

/** Returns the text in a cursor that `btoa` wrote, or null for any other text. */
export function cursorText(cursor: string): string | null {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(cursor) && cursor.length % 4 === 0 ? atob(cursor) : null;
}

const MAX_PAGE_SIZE = 100;
/**
 * Ours: the characters of a page, most of one byte each. A shorter page has a cursor to the rest.
 * An isolate holds the pages of many readers.
 */
const MAX_PAGE_BYTES = 512 * 1024;

/** The number of records on a page, as a query has it. */
export const recordLimit = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, 'Must be a whole number.')
  .transform((text) => Number.parseInt(text, 10))
  .refine((limit) => limit <= MAX_PAGE_SIZE, `Must be at most ${MAX_PAGE_SIZE}.`);

/** Used without a limit in the query. */
export const DEFAULT_PAGE = 50;

/** The records of a page, as JSON. */
export class PageTexts {
  readonly #texts: string[] = [];
  #bytes = 0;

  get count(): number {
    return this.#texts.length;
  }

  /** Adds a record. Returns false, without adding it, when the page is full. */
  add(record: unknown): boolean {
    const text = JSON.stringify(record);
    this.#bytes += text.length;
    if (this.#texts.length > 0 && this.#bytes > MAX_PAGE_BYTES) return false;
    this.#texts.push(text);
    return true;
  }

  /** Returns a JSON array. */
  array(): string {
    return `[${this.#texts.join()}]`;
  }
}
