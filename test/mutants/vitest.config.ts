import { defineConfig } from 'vitest/config';

/** Tests that need no Workers pool, one file at a time and without what a whole run prepares. */
export default defineConfig({
  root: process.cwd(),
  test: { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 1 },
});
