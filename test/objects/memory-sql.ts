import type { SQLInputValue, StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';

/** SQLite in memory, with its prepared statements. */
export class Database {
  readonly #db = new DatabaseSync(':memory:');
  readonly #prepared = new Map<string, StatementSync>();

  /** Runs several statements, without values. */
  script(text: string): void {
    this.#db.exec(text);
  }

  /** @param asArrays rows as lists of their values, not as records */
  run(
    query: string,
    values: readonly SQLInputValue[],
    asArrays = false,
  ): { rows: readonly unknown[]; changes: number } {
    const statement = this.#statement(query);
    statement.setReturnArrays(asArrays);
    if (statement.columns().length > 0) {
      const rows = statement.all(...values);
      return { rows, changes: rows.length };
    }
    return { rows: [], changes: Number.parseInt(String(statement.run(...values).changes), 10) };
  }

  /** Commits all of it, or nothing. */
  atomic<T>(work: () => T): T {
    this.#db.exec('SAVEPOINT atomic');
    try {
      const result = work();
      this.#db.exec('RELEASE atomic');
      return result;
    } catch (error) {
      this.#db.exec('ROLLBACK TO atomic');
      this.#db.exec('RELEASE atomic');
      throw error;
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#db.close();
  }

  #statement(query: string): StatementSync {
    const known = this.#prepared.get(query);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(query);
    this.#prepared.set(query, statement);
    return statement;
  }
}

/** SQLite with the interface of a Durable Object, for what would be too much for workerd. */
export function memorySql(): SqlStorage {
  return objectSql(new Database());
}

/** Returns the same for a database that other code uses, too. */
export function objectSql(db: Database): SqlStorage {
  const exec = (query: string, ...values: SQLInputValue[]) => {
    if (values.length === 0 && query.includes(';')) {
      db.script(query);
      return cursor([], 0);
    }
    const { rows, changes } = db.run(query, values);
    return cursor(rows, changes);
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
