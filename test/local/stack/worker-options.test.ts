import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { unstable_getMiniflareWorkerOptions } from 'wrangler';
import type { Settings } from '#local/stack/configuration.ts';
import { configure } from '#local/stack/configuration.ts';
import { workerOptionsOf } from '#local/stack/worker-options.ts';

const RPC_URLS = { anvil: ['http://127.0.0.1:8545'] };
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function configured(settings: Partial<Settings> = {}): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-options-'));
  folders.push(folder);
  return configure(folder, { rpcUrls: RPC_URLS, ...settings }).files;
}

/** Covers absent and empty options: the runtime treats both alike. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const kept = withoutEmpty(inner);
    return isEmpty(kept) ? [] : [[key, kept]];
  });
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

test('the local runtime gets the options that wrangler derives from the same configuration', () => {
  const login = { issuer: 'https://issuer.test', clientId: 'conclave', clientSecret: 'a "quoted" # secret' };
  const files = [
    ...configured(),
    ...configured({ hasDashboard: false, cosigners: 4, cosignerUrls: { 4: 'https://far.test' }, login }),
    ...configured({ isCoordinatorPinned: true, recoveryKeys: ['ab', '', 'cd'], notificationsEnabled: false }),
  ];
  // The variables of the bench are in TOML, and none is a secret.
  files.push(...['bare', 'sign', 'sign-four'].map((name) => resolve(`bench/${name}.toml`)));
  expect(files).toHaveLength(15);
  for (const file of files) {
    const { workerOptions, main } = unstable_getMiniflareWorkerOptions(file);
    // The path and the list of modules differ: the local runtime gets a bundle, with its modules by
    // name.
    const { rootPath: _root, modulesRules: _rules, ...options } = workerOptions as Record<string, unknown>;
    const own = workerOptionsOf(file);
    expect(withoutEmpty(own.options)).toEqual(withoutEmpty(options));
    expect(own.main).toBe(main);
  }
});

test('a section that the local runtime does not know is an error that names the section', () => {
  const [file = ''] = configured();
  const written: object = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...written, r2_buckets: [] }));
  expect(() => workerOptionsOf(file)).toThrow('r2_buckets');
});
