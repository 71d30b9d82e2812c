import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import type { UserConfig } from 'vite';

/** What a browser loads: the dashboard, and with `--mode approval-page` the approval page. */
export default defineConfig(({ mode }) => {
  if (mode !== 'approval-page') return dashboard;
  // A variable of the shell must not decide which bytes a release has.
  process.env['NODE_ENV'] = 'production';
  return approvalPage;
});

const jsx: UserConfig = {
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
};

/** The dashboard: what a browser loads, as files that the coordinator serves beside its interface. */
const dashboard: UserConfig = {
  ...jsx,
  root: resolve(import.meta.dirname, 'src/dashboard'),
  build: {
    outDir: resolve(import.meta.dirname, 'dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    // Nothing stands in the page itself: the policy of its content allows no inline script, and no data for one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
};

/**
 * The approval page: static files for an origin that the coordinator does not control. The same sources
 * give the same bytes on every machine, so that anybody can compare a served page with the release:
 * names carry no hash, and nothing depends on paths or times.
 */
const approvalPage: UserConfig = {
  ...jsx,
  root: resolve(import.meta.dirname, 'src/approval-page'),
  // Relative, so that the page also works under a path.
  base: './',
  build: {
    outDir: resolve(import.meta.dirname, 'dist/approval-page'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        entryFileNames: 'approval-page.js',
        chunkFileNames: '[name].js',
        assetFileNames: 'approval-page[extname]',
      },
    },
  },
};
