import { defineConfig } from 'vitest/config';
import { workersInNode } from './workers-in-node.ts';

/**
 * Runs tests that need no Workers pool, one file at a time and without the preparation of a whole
 * run. `npm run check` and the planted bugs use it.
 */
export default defineConfig({
  root: process.cwd(),
  plugins: [workersInNode],
  test: { testTimeout: 120_000, hookTimeout: 120_000, maxWorkers: 1 },
});
