import { getTableColumns, getTableName } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';

/** D1 takes a text of two million bytes, and a letter is three of them at most. */
const MAX_CHARACTERS = 500_000;

/**
 * The start of a statement that inserts rows out of one JSON text: objects with the names that the columns have in the code. So one statement
 * holds any number of rows, where D1 takes a hundred parameters, and costs about what one of a single row does.
 */
export function insertRows(table: SQLiteTable): string {
  const columns = Object.entries(getTableColumns(table));
  const names = columns.map(([, { name }]) => name);
  const values = columns.map(([key]) => `value ->> '$.${key}'`);
  // Without a condition SQLite would take the ON of an ON CONFLICT for that of a join.
  return `INSERT INTO ${getTableName(table)} (${names.join()}) SELECT ${values.join()} FROM json_each(?) WHERE true`;
}

/** As many texts as it takes for D1 to take each. No row is cut: one has some hundred kilobytes at most, for a body has 64 (http/edge/request-check.ts). */
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
