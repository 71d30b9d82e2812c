import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importCycles } from './cycles.ts';
import type { SourceFile } from './house.ts';
import { crowdedFolders, house, roomOf } from './house.ts';
import { PROJECT, projectFiles } from './project-files.ts';
import { privateProse } from './prose.ts';
import { FROZEN } from './vocabulary.ts';
import { tooWide } from './width.ts';

const paths = projectFiles();
const files: readonly SourceFile[] = paths
  // The files of the rules contain the words that the rules forbid.
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('test/architecture/'))
  .map((path) => ({ path, text: readFileSync(resolve(PROJECT, path), 'utf8') }));

test('every room of the house exists, and every source file is in a room', () => {
  const rooms = new Set(files.map(({ path }) => roomOf(path)).filter((room) => room !== null));
  expect([...rooms].toSorted()).toEqual([
    '',
    'approval-page',
    'chains',
    'cosigner',
    'cosigner-client',
    'curve',
    'dashboard',
    'devices',
    'domain',
    'http',
    'jobs',
    'login',
    'monitors',
    'mpc',
    'notifications',
    'objects',
    'prices',
    'review',
    'store',
  ]);
});

describe.each(Object.entries(house))('rule %s', (_name, rule) => {
  test('holds in every file', () => {
    expect(files.flatMap((file) => rule(file).map((fault) => `${file.path} ${fault}`))).toEqual([]);
  });
});

/** A rule counts only if it has found a planted fault. */
test.each<[keyof typeof house, string, string]>([
  ['floors', 'src/domain/vault/vault.ts', `import { sign } from '#jobs/signing/sign.ts';`],
  ['floors', 'src/http/app.ts', `import { sign } from '#jobs/signing/sign.ts';`],
  ['floors', 'src/mpc/share.ts', `import type { Chain } from '#chains/families/registry.ts';`],
  ['floors', 'src/objects/vault/doors/object.ts', `const key = await import('#cosigner/api/object.ts');`],
  ['floors', 'src/drawer/vault.ts', ''],
  ['folders', 'src/domain/policy/policy.ts', `import { isFinal } from '#domain/transaction/transaction.ts';`],
  ['folders', 'src/chains/chain-rules.ts', `import type { Bid } from '#chains/inspect/payload.ts';`],
  ['folders', 'src/objects/configuration.ts', `const door = await import('#objects/vault/doors/object.ts');`],
  [
    'folders',
    'src/cosigner/tables/storage.ts',
    `import type { CheckedRequest } from '#cosigner/policy/approval-check.ts';`,
  ],
  ['folders', 'src/http/encode/problem.ts', `import type { Route } from '#http/edge/route.ts';`],
  ['folders', 'src/mpc/group.ts', `import { taprootOf } from '#mpc/derivation/taproot.ts';`],
  ['folders', 'src/domain/drawer/policy.ts', ''],
  ['wire', 'src/approval-page/approve.tsx', `import { api } from '#dashboard/api.ts';`],
  ['spelling', 'src/domain/vault/vault.ts', `import { id } from './id.ts';`],
  ['spelling', 'src/http/user/me.ts', `import { id } from '../app.ts';`],
  ['packages', 'src/domain/vault/vault.ts', `import * as z from 'zod';`],
  ['packages', 'src/objects/vault/doors/object.ts', `import { Hono } from 'hono';`],
  ['packages', 'src/jobs/signing/sign.ts', `import { Hono } from 'hono';`],
  ['packages', 'src/jobs/signing/sign.ts', `import { getBalance } from 'viem/actions';`],
  ['packages', 'src/mpc/share.ts', `import { env } from 'cloudflare:workers';`],
  ['packages', 'src/mpc/share.ts', `import { randomBytes } from 'node:crypto';`],
  ['length', 'src/mpc/share.ts', '\n'.repeat(401)],
  ['functions', 'src/mpc/share.ts', `const f = () => {${'\n  g();'.repeat(60)}\n};`],
  ['drawers', 'src/mpc/utils.ts', ''],
  ['drawers', 'test/helpers/cast.ts', ''],
  ['barrels', 'src/mpc/index.ts', `export * from '#mpc/share.ts';`],
  ['barrels', 'src/mpc/index.ts', `export { seal } from '#mpc/share.ts';`],
  ['brands', 'src/http/app.ts', `const id = text as TransactionId;`],
  ['brands', 'src/domain/vault/vault.ts', `const id = text as Amount;`],
  ['wholeKeys', 'test/e2e/evm/transfer.test.ts', `secp256k1.sign(digest, key)`],
  ['wholeKeys', 'local/demo/demo.ts', `privateKeyToAccount('0x')`],
  ['wholeKeys', 'cli/recovery/open.ts', `import { signedWith } from './whole-key.ts';`],
  ['wholeKeys', 'src/cosigner/api/object.ts', `import { signedWith } from '#cli/recovery/whole-key.ts';`],
  ['lists', 'src/dashboard/pages/vault-page.tsx', `bodyOf(line.balances.$get())`],
  ['errors', 'src/chains/evm/client/quote.ts', `throw new Error('a stored payload can be read');`],
  ['errors', 'src/mpc/keygen/session.ts', 'throw new Error(`a sid of ${length} has 32 bytes`);'],
  ['errors', 'src/cosigner/api/object.ts', `if (ref.kind !== 'key') throw new Malformed('only a key has this');`],
  ['errors', 'src/mpc/share.ts', `throw new Error(bytes === null ? 'a key has bytes' : 'not a key share');`],
  ['requests', 'src/http/transaction/transfer.ts', `const body = transferBody.parse(await context.req.json());`],
  ['requests', 'src/http/vault/events.ts', `const id = context.req.param('vaultId');`],
  ['purity', 'src/domain/transaction/approvals.ts', `const now = Date.now();`],
  ['folders', 'src/chains/evm/rules/compose.ts', `import type { EvmQuote } from '#chains/evm/client/quote.ts';`],
  ['folders', 'src/chains/bitcoin/rules/payload.ts', `import { depthOf } from '#chains/bitcoin/watch/depth.ts';`],
  ['database', 'src/store/vaults.ts', `await db.transaction(async () => {});`],
  ['amounts', 'src/chains/evm/client/quote.ts', `const fee = Number(quote.maxFee);`],
  ['logs', 'src/http/app.ts', `console.log(JSON.stringify(env));`],
  ['logs', 'src/http/app.ts', `console.error(token);`],
  ['mentions', 'src/http/app.ts', `// TODO: check the caller`],
  ['vocabulary', 'src/jobs/sign.ts', `const askedAtMs = 1;`],
  ['vocabulary', 'src/jobs/sign.ts', `interface Desk { readonly vote: string }`],
  ['vocabulary', 'src/dashboard/shell/app.tsx', `const view = () => <Errand />;`],
  ['vocabulary', 'src/objects/vault/doors/object.ts', `class Vault { #owed = 1; }`],
  ['vocabulary', 'src/jobs/sweep.ts', `const LONGEST_WAIT_MS = 1;`],
  ['vocabulary', 'src/jobs/sweep.ts', `const given = await read();`],
  ['vocabulary', 'src/cosigner/key/key.ts', `const coin = 1; const witnessed = bearWitness();`],
  ['vocabulary', 'src/objects/transaction-desk.ts', ''],
])('rule %s refuses it in %s', (name, path, text) => {
  expect(house[name]({ path, text })).not.toEqual([]);
});

test('a function is as long as its lines without switches and JSX', () => {
  const calls = '\n  g();'.repeat(58);
  const cases = '\n    case 1:\n      g();'.repeat(60);
  const form = '\n      <p>one</p>'.repeat(100);
  const path = 'src/dashboard/pages/home.tsx';
  const faults = (text: string) => house.functions({ path, text });
  expect(faults(`function f() {${calls}\n}`)).toEqual([]);
  expect(faults(`function f() {\n  switch (a) {${cases}\n  }\n}`)).toEqual([]);
  expect(faults(`function F() {\n  return (\n    <main>${form}\n    </main>\n  );\n}`)).toEqual([]);
  expect(faults(`function f() {\n  switch (a) {${cases}\n  }${calls}\n}`)).toEqual([
    'line 1 begins a function of 61 lines',
  ]);
});

test('no file imports itself through other files, type imports included', () => {
  expect(importCycles(files.filter(({ path }) => !path.startsWith('test/')))).toEqual([]);
});

test('a cycle is found through a type import and through a relative path', () => {
  const file = (path: string, text: string) => ({ path, text });
  const cycle = [
    file('src/mpc/share.ts', `import type { Group } from '#mpc/group.ts';`),
    file('src/mpc/group.ts', `import { share } from '#mpc/share.ts';\nimport { z } from 'zod';`),
  ];
  expect(importCycles(cycle)).toEqual(['src/mpc/share.ts -> src/mpc/group.ts -> src/mpc/share.ts']);
  expect(importCycles([...cycle.slice(0, 1), file('src/mpc/group.ts', '')])).toEqual([]);
  const local = [
    file('local/start.ts', `import('./guide.ts')`),
    file('local/guide.ts', `import x from '#local/start.ts'`),
  ];
  expect(importCycles(local)).toHaveLength(1);
});

test.each([
  ['no word of the house', privateProse],
  ['no line that is too wide', tooWide],
])('comments and texts have %s', (_name, rule) => {
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap((file) => rule(file).map((fault) => `${file.path} ${fault}`))).toEqual([]);
});

test.each([
  ['// Nobody waits for it.', 1],
  ['/** The co-signer asks for the policy. */', 1],
  ['const text = `This can not be undone.`;', 1],
  [`const text = 'Ask the other signers.';`, 0],
  ['// `askInVain` is stored.', 0],
  [`const codes = ['told', 'voice'];`, 0],
])('the rule for words is applied to %s', (text, faults) => {
  expect(privateProse({ path: 'src/domain/vault/vault.ts', text })).toHaveLength(faults);
});

test.each([
  [`// ${'x'.repeat(98)}`, 1],
  [`// ${'x'.repeat(97)}`, 0],
  [`const ${'x'.repeat(111)} = 1;`, 1],
  [`const text = '${'x'.repeat(120)}';`, 0],
])('the rule for widths is applied to %s', (text, faults) => {
  expect(tooWide({ path: 'src/domain/vault/vault.ts', text })).toHaveLength(faults);
});

/** Hosts that serve packages. A machine installs from the ones that it is configured for. */
const REGISTRIES =
  /registry\.[a-z0-9-]+\.(org|com|net|io|dev)|unpkg\.com|npmjs\.|npmmirror|yarnpkg\.|jsr\.io|pypi\.|deb\.debian|snapshot\.debian|ftp\.[a-z.]*debian/;

test('no committed file names the host of a registry', () => {
  const naming = paths.filter((path) => {
    if (path === 'test/architecture/house.test.ts') return false;
    return REGISTRIES.test(readFileSync(resolve(PROJECT, path), 'utf8'));
  });
  expect(naming).toEqual([]);
  const lock = readFileSync(resolve(PROJECT, 'package-lock.json'), 'utf8');
  expect(lock).not.toMatch(/"resolved": *"http/);
});

test('no folder has more than 20 entries', () => {
  expect(crowdedFolders(paths)).toEqual([]);
});

test('a folder with 21 entries is found, whether they are files or folders', () => {
  const twenty = Array.from({ length: 20 }, (_, i) => `src/mpc/${i}.ts`);
  expect(crowdedFolders(twenty)).toEqual([]);
  expect(crowdedFolders([...twenty, 'src/mpc/ecdsa/sign.ts', 'src/mpc/ecdsa/deal.ts'])).toEqual([
    'src/mpc has 21 entries; at most 20',
  ]);
});

test('every exception in the vocabulary is still used', () => {
  const used = new Set(files.flatMap(({ text }) => text.match(/\w+/g) ?? []));
  expect([...FROZEN].filter((name) => !used.has(name))).toEqual([]);
});

test('no committed file names the address of a package registry', () => {
  const lockfile = readFileSync(resolve(PROJECT, 'package-lock.json'), 'utf8');
  expect(lockfile).not.toContain('"resolved"');
  expect(lockfile).not.toMatch(
    /https?:\/\/(?!opencollective|github|www\.|paulmillr|feross|tidelift|ko-fi|patreon)[a-z0-9.-]*(npm|registry)/,
  );
});

test('every dependency is pinned to one version', () => {
  const manifest: Record<string, Record<string, string>> = JSON.parse(
    readFileSync(resolve(PROJECT, 'package.json'), 'utf8'),
  );
  const versions = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
    Object.entries(manifest[kind] ?? {}),
  );
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[a-z0-9.]+)?$/.test(version))).toEqual([]);
});

test('every import alias of the package leads to a folder that exists', () => {
  const manifest: { imports: Record<string, string | Record<string, string>> } = JSON.parse(
    readFileSync(resolve(PROJECT, 'package.json'), 'utf8'),
  );
  const targets = Object.values(manifest.imports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  );
  const missing = targets.filter((target) => !existsSync(resolve(PROJECT, target.replace(/\*.*/, ''))));
  expect(missing).toEqual([]);
});
