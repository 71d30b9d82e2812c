import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Miniflare } from 'miniflare';

type Database = Awaited<ReturnType<Miniflare['getD1Database']>>;

const FOLDER = resolve(import.meta.dirname, '..', '..', 'migrations');
/** The table in which wrangler records what it has applied, so that either can go on after the other. */
const TABLE = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** Brings a database to the newest schema: each migration that it lacks in one batch, as `wrangler d1 migrations apply` does it. */
export async function migrateDatabase(database: Database): Promise<void> {
  await database.prepare(TABLE).run();
  const { results } = await database.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  for (const file of migrationFiles().filter((name) => !applied.has(name))) {
    const statements = readFileSync(join(FOLDER, file), 'utf8').split('--> statement-breakpoint');
    await database.batch([
      ...statements.map((statement) => database.prepare(statement)),
      database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(file),
    ]);
  }
}

function migrationFiles(): readonly string[] {
  const journal = readFileSync(join(FOLDER, 'meta', '_journal.json'), 'utf8');
  const { entries }: { entries: readonly { tag: string }[] } = JSON.parse(journal);
  return entries.map(({ tag }) => `${tag}.sql`);
}
