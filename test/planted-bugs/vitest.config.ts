import { defineConfig } from 'vitest/config';
import { compiledWasm } from '../setup/compiled-wasm.ts';

/** Tests that need no Workers pool, one file at a time and without what a whole run prepares. */
export default defineConfig({
  root: process.cwd(),
  plugins: [compiledWasm],
  test: { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 1 },
});
