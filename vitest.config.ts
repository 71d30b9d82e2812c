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
 * The coordinator as one file: it starts in each file of tests, and its 800 modules one by one would take five seconds each time. The pool
 * asks for it once per file as well, and it is made once: who wrote it anew would take it from under those who are just reading it.
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
    // Some packages name Node's modules without their prefix, in parts that no Worker uses.
    alias: Object.fromEntries(builtinModules.map((name) => [name, `node:${name}`])),
    // A source map of ten megabytes would be read at the start of each file.
    minify: true,
    outfile,
  });
  return outfile;
}

/** Opens the internal interface of the tests, and nothing else anywhere. */
const SERVICE_KEY = 'service_key_of_the_tests';

/** Of the one monitor of the worker tests. */
const MONITOR_SECRET = 'the-signing-key-of-the-tests';

/** Keys of this run, and a push service that is none. */
function newPushSettings() {
  const { x = '', y = '', d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const services = ['https://push.test', 'https://fcm.googleapis.com'];
  return { subject: 'mailto:operator@example.com', publicKey: point.toString('base64url'), privateKey: d, services };
}

keepTemporaryFilesInMemory();

/** Files of one process, or of one runtime, share their modules, which halves the time; `npm run proof` runs each file apart. */
const isolate = process.env['CONCLAVE_ISOLATED_TESTS'] === 'true';

/** Three rooms: pure code in Node, objects and HTTP in workerd, and the whole stack from the outside. */
export default defineConfig({
  test: {
    // End-to-end tests mostly wait for processes of their own, so there are more than a small machine has cores.
    maxWorkers: 4,
    projects: [
      {
        plugins: [workersInNode],
        test: {
          name: 'node',
          isolate,
          globalSetup: ['./test/setup/test-run.ts'],
          include: ['test/**/*.test.ts'],
          // The attacks that take a browser run with the tests of the e2e project.
          exclude: [
            ...filesOutOfTurn(),
            '**/*.worker.test.ts',
            'test/{browser,e2e,spec}/**',
            'test/attacks/coordinator/lying-{dashboard,redirect}.test.ts',
          ],
          testTimeout: 60_000,
          hookTimeout: 60_000,
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
                APPROVAL_ORIGIN: 'https://vaults.example.com',
                TEST_SERVICE_KEY: SERVICE_KEY,
                TEST_MIGRATIONS: await readD1Migrations('./migrations'),
              },
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
          setupFiles: ['./test/worker/shallow-prototypes.ts', './test/worker/empty-storage.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          isolate,
          globalSetup: ['./test/setup/test-run.ts'],
          include: [
            'test/{browser,e2e,spec}/**/*.test.ts',
            'test/attacks/coordinator/lying-{dashboard,redirect}.test.ts',
          ],
          exclude: [...filesOutOfTurn()],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

/** These tests look at the coordinator alone; co-signers have tests of their own, and the whole stack is tested end to end. */
function absent(): Response {
  return new Response(null, { status: 503 });
}
