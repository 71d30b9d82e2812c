import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A database of a written configuration, and the folder of its migrations. */
export interface MigratedDatabase {
  readonly id: string;
  readonly folder: string;
}

interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/**
 * Runs beside the coordinator, on the same database, and applies the migrations of its own
 * configuration. The runtime's proxy for databases would work, but it starts a thread of its own,
 * which costs a quarter of a second of CPU at each start. The script maintains the table in which
 * wrangler records applied migrations, so that either can continue after the other. It applies each
 * migration in one batch, as wrangler does.
 */
const SCRIPT = `
const TABLE = \`CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)\`;
export default {
  async fetch(_request, { DB, MIGRATIONS }) {
    await DB.prepare(TABLE).run();
    const { results } = await DB.prepare('SELECT name FROM d1_migrations').all();
    const applied = new Set(results.map(({ name }) => name));
    for (const { name, statements } of MIGRATIONS.filter((one) => !applied.has(one.name))) {
      const record = DB.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name);
      await DB.batch([...statements.map((statement) => DB.prepare(statement)), record]);
    }
    return new Response(null, { status: 204 });
  },
};`;

/**
 * Returns the Worker that migrates a database to its newest schema when it is called, in the shape
 * of `convertV4MiniflareOptions`.
 */
export function migrationWorker({ id, folder }: MigratedDatabase): object {
  return {
    modules: true,
    script: SCRIPT,
    d1Databases: { DB: { id } },
    bindings: { MIGRATIONS: migrationsIn(folder) },
  };
}

function migrationsIn(folder: string): readonly Migration[] {
  const journal = readFileSync(join(folder, 'meta', '_journal.json'), 'utf8');
  const { entries }: { entries: readonly { tag: string }[] } = JSON.parse(journal);
  return entries.map(({ tag }) => {
    const name = `${tag}.sql`;
    return { name, statements: readFileSync(join(folder, name), 'utf8').split('--> statement-breakpoint') };
  });
}
