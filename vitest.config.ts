import { createHash, generateKeyPairSync } from 'node:crypto';
import { builtinModules } from 'node:module';
import { resolve } from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { build } from 'esbuild';
import { defineConfig } from 'vitest/config';
import { keepTemporaryFilesInMemory } from './test/setup/temporary-files.ts';
import { filesOutOfTurn } from './test/setup/turns.ts';
import { workersInNode } from './test/setup/workers-in-node.ts';

/**
 * The coordinator bundled into one file. It starts in each test file, and loading its 800 modules
 * one by one would take five seconds each time. It is built once per run, because a second build
 * would replace the file while tests read it.
 */
let coordinator: Promise<string> | undefined;
function coordinatorUnderTest(): Promise<string> {
  coordinator ??= bundleOfCoordinator();
  return coordinator;
}

async function bundleOfCoordinator(): Promise<string> {
  const outfile = resolve(import.meta.dirname, '.wrangler/tests/coordinator-under-test.js');
  await build({
    entryPoints: [resolve(import.meta.dirname, 'test/worker/main.ts')],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'import'],
    external: ['cloudflare:*', 'node:*'],
    // The runtime compiles the code that is beside the bundle.
    loader: { '.wasm': 'copy' },
    assetNames: '[name]',
    // Some packages import Node's modules without the `node:` prefix, in parts that no Worker uses.
    alias: Object.fromEntries(builtinModules.map((name) => [name, `node:${name}`])),
    // Without minification the source map of ten megabytes would be read at the start of each file.
    minify: true,
    outfile,
  });
  return outfile;
}

/** The service key of the tests. It opens the internal API of the tests alone. */
const SERVICE_KEY = 'service_key_of_the_tests';

/** The RPC nodes of the worker tests, which test/worker/fake-node.ts plays. */
const RPC_URLS = {
  anvil: ['https://node-of-the-tests.test/31337'],
  ethereum: ['https://node-of-the-tests.test/1'],
};

/** The secret of the one monitor in the worker tests. */
const MONITOR_SECRET = 'the-signing-key-of-the-tests';

/** Returns push keys for this run, and the address of a push service that does not exist. */
function newPushSettings() {
  const { x = '', y = '', d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const services = ['https://push.test', 'https://fcm.googleapis.com'];
  return { subject: 'mailto:operator@example.com', publicKey: point.toString('base64url'), privateKey: d, services };
}

keepTemporaryFilesInMemory();

/**
 * The files of one process or runtime share their modules, which halves the time. `npm run proof`
 * isolates each file.
 */
const isolate = process.env['CONCLAVE_ISOLATED_TESTS'] === 'true';

/**
 * Ends a test that hangs. A test that needs seconds on a quiet machine takes ten times longer on a
 * busy one, so no test sets a lower limit.
 */
const MAX_TEST_MS = 300_000;

/**
 * Three projects: plain code in Node, objects and HTTP in workerd, and the whole stack end to end.
 */
export default defineConfig({
  test: {
    // End-to-end tests mostly wait for their own processes, so there are more workers than cores.
    maxWorkers: 4,
    projects: [
      {
        plugins: [workersInNode],
        test: {
          name: 'node',
          isolate,
          globalSetup: ['./test/setup/test-run.ts'],
          setupFiles: ['./test/setup/same-sources.ts'],
          include: ['test/**/*.test.ts'],
          // The attacks that need a browser run in the e2e project.
          exclude: [
            ...filesOutOfTurn(),
            '**/*.worker.test.ts',
            'test/{browser,e2e,spec}/**',
            'test/attacks/coordinator/lying-{dashboard,redirect,reload,service}.test.ts',
          ],
          testTimeout: MAX_TEST_MS,
          hookTimeout: MAX_TEST_MS,
        },
      },
      {
        plugins: [
          cloudflareTest(async () => ({
            main: await coordinatorUnderTest(),
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              cf: false,
              bindings: {
                TOKEN_MAC_KEY: '01'.repeat(32),
                SERVICE_KEY_HASHES: createHash('sha256').update(SERVICE_KEY).digest('hex'),
                WEBHOOK_ENDPOINTS: JSON.stringify({
                  'of-the-tests': { provider: 'alchemy', secrets: [MONITOR_SECRET] },
                }),
                WEB_PUSH: JSON.stringify(newPushSettings()),
                RPC_URLS: JSON.stringify(RPC_URLS),
                LOG_SHARE: '',
                APPROVAL_ORIGIN: 'https://vaults.example.com',
                TEST_SERVICE_KEY: SERVICE_KEY,
                TEST_FEED_CHANGES: process.env['FEED_CHANGES'] ?? '1000',
                TEST_MIGRATIONS: await readD1Migrations('./migrations'),
              },
              durableObjects: { EMPTY: { className: 'EmptyObject', useSQLite: true } },
              serviceBindings: {
                COSIGNER_1: absent,
                COSIGNER_2: absent,
                COSIGNER_3: absent,
              },
            },
          })),
        ],
        test: {
          name: 'worker',
          isolate,
          include: ['test/**/*.worker.test.ts'],
          setupFiles: [
            './test/worker/shallow-prototypes.ts',
            './test/worker/empty-storage.ts',
            './test/worker/fake-node.ts',
          ],
          testTimeout: MAX_TEST_MS,
          hookTimeout: MAX_TEST_MS,
        },
      },
      {
        test: {
          name: 'e2e',
          isolate,
          globalSetup: ['./test/setup/test-run.ts'],
          setupFiles: ['./test/setup/same-sources.ts'],
          include: [
            'test/{browser,e2e,spec}/**/*.test.ts',
            'test/attacks/coordinator/lying-{dashboard,redirect,reload,service}.test.ts',
          ],
          exclude: [...filesOutOfTurn()],
          testTimeout: MAX_TEST_MS,
          hookTimeout: MAX_TEST_MS,
          // As long as a step of a page may take: a busy machine takes ten times longer.
          expect: { poll: { timeout: 120_000 } },
        },
      },
    ],
  },
});

/**
 * Answers for the absent co-signers. These tests test the coordinator alone; co-signers have their
 * own tests.
 */
function absent(): Response {
  return new Response(null, { status: 503 });
}
