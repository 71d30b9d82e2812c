import { applyD1Migrations, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

interface MigrationEnv {
  readonly DB: D1Database;
  readonly TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1];
}

const { DB, TEST_MIGRATIONS } = env as unknown as MigrationEnv;
// Files share a runtime: what the file before has stored goes, objects and their alarms too.
await reset();
await applyD1Migrations(DB, TEST_MIGRATIONS);
