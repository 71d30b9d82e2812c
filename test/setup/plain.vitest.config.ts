import { defineConfig } from 'vitest/config';
import { workersInNode } from './workers-in-node.ts';

/**
 * Tests that need no Workers pool, one file at a time and without what a whole run prepares: for
 * `npm run check` and for planted bugs.
 */
export default defineConfig({
  root: process.cwd(),
  plugins: [workersInNode],
  test: { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 1 },
});
