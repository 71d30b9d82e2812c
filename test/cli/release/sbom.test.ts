import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sbomOf } from '#cli/release/sbom.ts';

const PROJECT = resolve(import.meta.dirname, '..', '..', '..');
const checkout = mkdtempSync(join(tmpdir(), 'conclave-sbom-'));
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

interface Document {
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly scope: string;
    readonly properties: readonly { readonly name: string; readonly value: string }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/** preact is a development dependency, because it reaches a release only inside of the pages. */
const SOURCES = {
  cosigner: [
    '../node_modules/viem/node_modules/@noble/hashes/sha3.js',
    '../src/cosigner-worker.ts',
    '../src/curve/secp256k1.ts',
  ],
  dashboard: [
    '/home/alice/node_modules/preact/dist/preact.mjs',
    '/home/alice/node_modules/preact/hooks/dist/hooks.mjs',
  ],
};

let text = '';
let sbom: Document;
beforeAll(async () => {
  text = await sbomOf(PROJECT, SOURCES);
  sbom = JSON.parse(text) as Document;
});

test('the document has every dependency of the project in its version, and each bundled package', () => {
  const { dependencies } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as Manifest;
  const listed = sbom.components.map(({ name, version }) => `${name}@${version}`);
  expect(listed).toEqual(
    expect.arrayContaining(Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)),
  );
  const preact = sbom.components.filter(({ name }) => name === 'preact');
  expect(preact).toMatchObject([
    { scope: 'required', properties: [{ name: 'conclave:bundled-in', value: 'dashboard' }] },
  ]);
  const inCosigner = sbom.components.filter(({ properties }) => properties.some(({ value }) => value === 'cosigner'));
  // The copy of viem, and not the newer one beside it.
  expect(inCosigner).toMatchObject([
    { name: '@noble/hashes', version: '1.8.0' },
    { name: 'libsecp256k1', version: '0.5.0' },
  ]);
});

test('the document has no tool of development, and no reference to one', () => {
  const names = sbom.components.map(({ name }) => name);
  for (const tool of ['vitest', 'wrangler', '@foundry-rs/anvil-linux-amd64', 'uqr']) expect(names).not.toContain(tool);
  const refs = sbom.dependencies.map(({ ref }) => ref);
  expect(refs).toContain(
    'conclave@' + /"version": "(.*)"/.exec(readFileSync(join(PROJECT, 'package.json'), 'utf8'))?.[1],
  );
  expect(sbom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([]);
});

test('another run in another folder, with packages from a mirror, writes the same document without its host', async () => {
  cpSync(join(PROJECT, 'package.json'), join(checkout, 'package.json'));
  const lockfile = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { resolved?: string }>;
  };
  for (const [path, entry] of Object.entries(lockfile.packages)) {
    if (path !== '') entry.resolved = `https://mirror.example/${path}.tgz`;
  }
  writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify(lockfile));
  const again = await sbomOf(checkout, SOURCES);
  expect(again).toBe(text);
  expect(text.match(/https?:\/\/[^"]*/g)).toEqual(['http://cyclonedx.org/schema/bom-1.5.schema.json']);
  expect(sbom.metadata.component.name).toBe('conclave');
});

test('a bundled package that the lockfile lacks is an error', async () => {
  const sources = { cosigner: ['../node_modules/left-pad/index.js'] };
  await expect(sbomOf(PROJECT, sources)).rejects.toThrow(
    'cosigner contains node_modules/left-pad, which is not in package-lock.json',
  );
});
