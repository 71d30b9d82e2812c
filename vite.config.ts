import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import type { Plugin, UserConfig } from 'vite';

/** Builds the dashboard, or with `--mode approval-page` the approval page. */
export default defineConfig(({ mode }) => {
  // NODE_ENV is fixed, so that a variable of the shell does not change the bytes of a release.
  process.env['NODE_ENV'] = 'production';
  return mode === 'approval-page' ? approvalPage : dashboard;
});

const jsx: UserConfig = {
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
};

/**
 * Both pages read the same bytes with the same code. The derivation of keys is code of the
 * co-signers, which have the native hash of their runtime. The pages allow no WebAssembly.
 */
const reader = {
  // The order of modules in a file depends on their paths. A checkout whose packages are a link has
  // them in the same order as any other.
  preserveSymlinks: true,
  alias: {
    'node:crypto': resolve(import.meta.dirname, 'src/approval-page/browser-hash.ts'),
    '#curve/secp256k1.ts': resolve(import.meta.dirname, 'src/approval-page/browser-curve.ts'),
  },
};

/** The modules that the first page needs, and every later one. */
const OF_FIRST_PAGE = new RegExp(
  [
    'node_modules/(?:preact|@tanstack|wouter-preact|regexparam|hono)/',
    'src/dashboard/(?:shell|amounts|approval)/',
    'src/dashboard/[a-z-]+[.]tsx?$',
    'src/dashboard/pages/(?:record-fields|member-names)[.]tsx$',
  ].join('|'),
);

interface Later {
  readonly modules: readonly string[];
  /** Paths of the API. `:id` is the id in the path of the page. */
  readonly data: readonly string[];
}

/** What a page requests beside the first script, by the part of its path that names it. */
const LATER: Readonly<Record<string, Later>> = {
  vault: {
    modules: [],
    data: ['/vault/:id/balances', '/vault/:id/transactions?limit=25'],
  },
  notifications: { modules: ['src/dashboard/pages/notifications-page.tsx'], data: [] },
  receive: { modules: ['src/dashboard/pages/receive-page.tsx'], data: [] },
  tokens: { modules: ['src/dashboard/pages/tokens-page.tsx'], data: ['/personal-access-token'] },
  transfer: {
    modules: ['src/dashboard/pages/transfer-page.tsx'],
    data: ['/vault/:id/policy', '/vault/:id/balances'],
  },
  transaction: {
    modules: ['src/review/verified-request.ts', 'src/dashboard/decision/record-difference.ts'],
    data: ['/transaction/:id'],
  },
  members: { modules: ['src/dashboard/members/members-page.tsx'], data: ['/vault/:id/member'] },
  policy: {
    modules: ['src/dashboard/pages/policy-page.tsx', 'src/review/verified-request.ts'],
    data: ['/vault/:id/policy', '/vault/:id/policy-change'],
  },
  rules: {
    modules: ['src/dashboard/pages/rules-page.tsx', 'src/review/policy-draft.ts'],
    data: ['/vault/:id/policy', '/vault/:id/balances'],
  },
};

/** Writes a template with the requests of each such page, which public/first.js inserts. */
function laterFiles(): Plugin {
  return {
    name: 'later-files',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle = {} }) => {
        const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
        const withImports = (fileName: string): readonly string[] => {
          const chunk = chunks.find((one) => one.fileName === fileName);
          // The document requests the first script itself.
          if (chunk === undefined || html.includes(fileName)) return [];
          return [fileName, ...chunk.imports.flatMap(withImports)];
        };
        const templates = Object.entries(LATER).map(([page, { modules, data }]) => {
          const files = modules.flatMap((module) => {
            const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(resolve(import.meta.dirname, module)));
            if (chunk === undefined) throw new Error(`No file of the dashboard has ${module}.`);
            return withImports(chunk.fileName);
          });
          const links = [
            ...data.map((path) => `<link rel="preload" as="fetch" crossorigin="anonymous" data-path="${path}">`),
            ...[...new Set(files)].map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`),
          ];
          return `    <template data-page="${page}">${links.join('')}</template>\n`;
        });
        return html.replace('  </head>', `${templates.join('')}  </head>`);
      },
    },
  };
}

/** The dashboard: files for the browser that the coordinator serves beside its API. */
const dashboard: UserConfig = {
  ...jsx,
  root: resolve(import.meta.dirname, 'src/dashboard'),
  plugins: [laterFiles()],
  resolve: reader,
  build: {
    outDir: resolve(import.meta.dirname, 'dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    // Every asset is its own file, because the content security policy allows no inline script and
    // no data URL.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // What the first page needs is one file: each further file is one more answer to wait for.
        // So is the reader of policies and decisions.
        codeSplitting: {
          groups: [
            { name: 'start', test: OF_FIRST_PAGE, priority: 2 },
            { name: 'reader', test: /src\/review\//, priority: 1 },
          ],
        },
      },
    },
  },
};

/**
 * The approval page: static files for an origin that the coordinator does not control. The same
 * sources give the same bytes on every machine, so that any person can compare a served page with
 * the release. File names carry no hash, and the bytes depend on no path or time.
 */
const approvalPage: UserConfig = {
  ...jsx,
  root: resolve(import.meta.dirname, 'src/approval-page'),
  // The base is relative, so that the page also works under a path.
  base: './',
  resolve: reader,
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
