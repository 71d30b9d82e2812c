import type { SQLInputValue } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';

/** SQLite as a Durable Object has it, for tests that would be too many for workerd. */
export function memorySql(): SqlStorage {
  const db = new DatabaseSync(':memory:');
  const exec = (query: string, ...bindings: SQLInputValue[]) => {
    // A list of statements takes no values and gives no rows.
    if (bindings.length === 0 && query.includes(';')) {
      db.exec(query);
      return cursor([], 0);
    }
    const statement = db.prepare(query);
    if (/^\s*select/i.test(query)) return cursor(statement.all(...bindings), 0);
    return cursor([], Number.parseInt(String(statement.run(...bindings).changes), 10));
  };
  return { exec } as unknown as SqlStorage;
}

function cursor(rows: readonly unknown[], rowsWritten: number) {
  return {
    toArray: () => [...rows],
    one: () => rows[0],
    rowsWritten,
    [Symbol.iterator]: () => rows[Symbol.iterator](),
  };
}
