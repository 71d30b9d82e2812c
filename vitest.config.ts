import { createHash } from 'node:crypto';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';

/** Opens the internal interface of the tests, and nothing else anywhere. */
const SERVICE_KEY = 'service_key_of_the_tests';

/** Three rooms: pure code in Node, objects and HTTP in workerd, and the whole stack from the outside. */
export default defineConfig({
  test: {
    // End-to-end tests mostly wait for processes of their own, so one more than there are cores of a small machine.
    maxWorkers: 3,
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/{architecture,chains,cosigner,domain,http,jobs,local,mpc,objects}/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        plugins: [
          cloudflareTest(async () => ({
            main: './test/worker/main.ts',
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              cf: false,
              bindings: {
                TOKEN_MAC_KEY: '01'.repeat(32),
                SERVICE_KEY_HASHES: createHash('sha256').update(SERVICE_KEY).digest('hex'),
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
        test: { name: 'worker', include: ['test/worker/**/*.test.ts'], setupFiles: ['./test/worker/migrate.ts'] },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
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
