import { getTableColumns, getTableName } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';

/** D1 allows a text of two million bytes, and a character has at most three. */
const MAX_CHARACTERS = 500_000;

/**
 * Returns the start of a statement that inserts rows from one JSON text: objects with the columns'
 * names in the code. One statement holds any number of rows, where D1 allows a hundred parameters,
 * and costs about as much as one with a single row.
 */
export function insertRows(table: SQLiteTable): string {
  const columns = Object.entries(getTableColumns(table));
  const names = columns.map(([, { name }]) => name);
  const values = columns.map(([key]) => `value ->> '$.${key}'`);
  // Without a condition SQLite would parse the ON of an ON CONFLICT as that of a join.
  return `INSERT INTO ${getTableName(table)} (${names.join()}) SELECT ${values.join()} FROM json_each(?) WHERE true`;
}

/**
 * Returns as many texts as D1 needs to accept each. No row is split: a row has at most some hundred
 * kilobytes, because a body has 64 (http/edge/request-check.ts).
 */
export function jsonTexts(rows: readonly object[]): readonly string[] {
  const parts: string[][] = [];
  let room = 0;
  for (const row of rows.map((one) => JSON.stringify(one))) {
    if (row.length > room) {
      parts.push([]);
      room = MAX_CHARACTERS;
    }
    parts.at(-1)?.push(row);
    room -= row.length + 1;
  }
  return parts.map((part) => `[${part.join()}]`);
}
