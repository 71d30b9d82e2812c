import { applyD1Migrations, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect } from 'vitest';
import { meterHere } from '../limits/limits.ts';

interface MigrationEnv {
  readonly DB: D1Database;
  readonly TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1];
}

const { DB, TEST_MIGRATIONS } = env as unknown as MigrationEnv;
// Test files share a runtime, so the objects, alarms and rows of the previous file are deleted.
await reset();
await applyD1Migrations(DB, TEST_MIGRATIONS);

// Code may handle the error of an exceeded limit, and the test pass.
afterEach(() => expect(meterHere().exceeded.splice(0)).toEqual([]));
