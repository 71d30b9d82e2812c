import { resolve } from 'node:path';
import { defineConfig } from 'vite';

/** The dashboard: what a browser loads, as files that the coordinator serves beside its interface. */
export default defineConfig({
  root: resolve(import.meta.dirname, 'src/dashboard'),
  build: {
    outDir: resolve(import.meta.dirname, 'dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    // Nothing stands in the page itself: the policy of its content allows no inline script, and no data for one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
});
