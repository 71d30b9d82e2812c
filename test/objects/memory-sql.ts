import type { SQLInputValue, StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import { checkStatement } from '../limits/limited-bindings.ts';

/** SQLite in memory, with its prepared statements. */
export class Database {
  readonly #db = new DatabaseSync(':memory:');
  readonly #prepared = new Map<string, StatementSync>();

  /** Runs several statements without parameters. */
  script(text: string): void {
    this.#db.exec(text);
  }

  /** @param asArrays returns rows as lists of values, and not as records */
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

  /** Runs `work` in a transaction: either all of its writes are committed, or none. */
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

/**
 * Returns an in-memory SQLite with the interface of a Durable Object's storage, for tests that
 * would be too slow in workerd.
 */
export function memorySql(): SqlStorage {
  return objectSql(new Database());
}

/** Returns a Durable Object's SQL interface to a database that other code uses too. */
export function objectSql(db: Database): SqlStorage {
  const exec = (query: string, ...values: SQLInputValue[]) => {
    checkStatement(query, values);
    if (values.length === 0 && query.includes(';')) {
      db.script(query);
      return cursor([], 0);
    }
    const { rows, changes } = db.run(query, values);
    return cursor(rows, changes);
  };
  const size = 'SELECT page_count * page_size AS size FROM pragma_page_count(), pragma_page_size()';
  return {
    exec,
    get databaseSize() {
      return (db.run(size, []).rows[0] as { size: number }).size;
    },
  } as unknown as SqlStorage;
}

function cursor(rows: readonly unknown[], rowsWritten: number) {
  return {
    toArray: () => [...rows],
    one: () => rows[0],
    rowsWritten,
    [Symbol.iterator]: () => rows[Symbol.iterator](),
  };
}
