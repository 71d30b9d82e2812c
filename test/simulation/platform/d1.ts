import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQLInputValue } from 'node:sqlite';
import type { Schedule } from '../schedule.ts';
import { Database } from '../../objects/memory-sql.ts';

const FOLDER = join(import.meta.dirname, '../../../migrations');
const MIGRATIONS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .toSorted()
  .map((name) => readFileSync(join(FOLDER, name), 'utf8'))
  .join('\n');

interface Bound {
  readonly query: string;
  readonly values: readonly SQLInputValue[];
}

/**
 * D1 over SQLite in memory. Each statement and each batch is one call, which takes effect
 * completely or not at all.
 */
export class SimulatedD1 {
  readonly db = new Database();
  readonly #schedule: Schedule;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.db.script(MIGRATIONS);
  }

  prepare(query: string) {
    return this.#statement({ query, values: [] });
  }

  async batch(statements: readonly Bound[]) {
    return this.#schedule.call('d1.batch', () =>
      this.db.atomic(() => statements.map(({ query, values }) => this.#execute({ query, values }))),
    );
  }

  #statement(bound: Bound) {
    const call = <T>(work: () => T) => this.#schedule.call('d1', () => this.db.atomic(work));
    return {
      ...bound,
      bind: (...values: SQLInputValue[]) => this.#statement({ query: bound.query, values: values.map(valueOf) }),
      all: () => call(() => this.#execute(bound)),
      run: () => call(() => this.#execute(bound)),
      raw: () => call(() => this.db.run(bound.query, bound.values, true).rows),
      first: () => call(() => this.db.run(bound.query, bound.values).rows[0] ?? null),
    };
  }

  #execute({ query, values }: Bound) {
    const { rows, changes } = this.db.run(query, values);
    return { success: true, results: rows, meta: { changes, rows_written: changes, size_after: 4096 } };
  }
}

/** D1 stores booleans as numbers. */
function valueOf(value: unknown): SQLInputValue {
  return typeof value === 'boolean' ? (value ? 1 : 0) : (value as SQLInputValue);
}
