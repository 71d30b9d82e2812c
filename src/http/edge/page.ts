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
