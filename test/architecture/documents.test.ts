import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '#cli/conclave.ts';
import { BUILT_IN_CHAINS } from '#chains/families/built-in-chains.ts';
import { ALERT_CODES, LOGGED_ALERT_CODES } from '#domain/operations/alert.ts';
import { ROUTES } from '#http/routes.ts';
import { MONITORS } from '#monitors/endpoint.ts';
import type { Document, Facts } from './documents.ts';
import { endpointOf, rules } from './documents.ts';
import { PROJECT, projectFiles } from './project-files.ts';

/**
 * These rules check that documents name only paths, commands, endpoints, settings and codes that
 * exist.
 */

const read = (path: string) => readFileSync(resolve(PROJECT, path), 'utf8');
const files = projectFiles();
const folders = files.flatMap((path) => {
  const parts = path.split('/');
  return parts.map((_, i) => parts.slice(0, i).join('/'));
});
const documents: readonly Document[] = files
  .filter((path) => /^(?:docs\/.*|[A-Z]+)\.md$/.test(path))
  .map((path) => ({ path, text: read(path) }));
const textOf = (path: string) => documents.find((one) => one.path === path)?.text ?? '';
const source = files.filter(
  (path) => /\.(?:tsx?|json|toml|sql)$|^\.ci\//.test(path) && !/package-lock|^test\/architecture\//.test(path),
);

const manifest = JSON.parse(read('package.json')) as {
  readonly scripts: object;
  readonly engines: { readonly node: string };
};
const loaded = Object.entries(COMMANDS).map(async ([name, { load }]) => [name, (await load()).usage] as const);
const facts: Facts = {
  paths: new Set([...files, ...folders]),
  documents: new Map(documents.map(({ path, text }) => [path, text])),
  scripts: new Set(Object.keys(manifest.scripts)),
  lowestNode: manifest.engines.node.replace(/^>=/, ''),
  usages: new Map(await Promise.all(loaded)),
  endpoints: new Set([
    ...ROUTES.map(({ method, path }) => endpointOf(method, path)),
    'GET /openapi.json',
    'GET /docs',
    'GET /',
  ]),
  words: new Set(
    source.flatMap(
      (path) =>
        read(path)
          .toLowerCase()
          .match(/[a-z0-9]+(?:[-_][a-z0-9]+)*/gu) ?? [],
    ),
  ),
};

describe.each(Object.entries(rules))('rule %s', (_name, rule) => {
  test.each(documents.map((one) => [one.path, one] as const))('holds in %s', (_path, document) => {
    expect(rule(document, facts)).toEqual([]);
  });
});

/** A rule counts only if it has found a planted fault. */
test.each<[string, string, string]>([
  ['width', 'docs/api.md', 'x'.repeat(121)],
  ['paths', 'docs/api.md', 'See `src/http/nowhere.ts`.'],
  ['links', 'docs/api.md', '[there](nowhere.md)'],
  ['links', 'docs/api.md', '[there](policies.md#no-such-heading)'],
  ['links', 'docs/adr/README.md', '[there](api.md)'],
  ['commands', 'docs/api.md', '```sh\nnpm run nothing\n```'],
  ['commands', 'docs/api.md', '`npm run conclave -- nothing`'],
  ['commands', 'docs/api.md', '```sh\nnpm run --silent conclave -- admin vault destroy\n```'],
  ['commands', 'docs/api.md', '```sh\nnpm run conclave -- admin vault create \\\n  --nothing 1\n```'],
  ['commands', 'docs/api.md', '`node cli/conclave.ts recover new --nothing 1`'],
  ['endpoints', 'docs/api.md', '`GET /vault/{vaultId}/nothing`'],
  ['identifiers', 'docs/api.md', '`no-such-code`'],
  ['identifiers', 'docs/api.md', '`NO_SUCH_SETTING`'],
  ['identifiers', 'docs/api.md', '`noSuchField`'],
  ['length', 'README.md', 'line\n'.repeat(181)],
  ['length', 'docs/known-limits.md', '\n- one\n  two\n  three\n'],
  ['nodeVersion', 'README.md', 'Install Node first.'],
  ['nodeVersion', 'CONTRIBUTING.md', 'Install Node 22.12 or newer.'],
  ['nodeVersion', 'docs/deploy.md', 'Install Node 22.18.1 or\nnewer.'],
])('rule %s finds its fault in %s', (name, path, text) => {
  expect(rules[name]?.({ path, text }, facts)).toHaveLength(1);
});

/** Returns the headings of the third level below a heading of the second level. */
function headingsUnder(path: string, heading: string): readonly string[] {
  const section =
    textOf(path)
      .split(/^## /mu)
      .find((one) => one.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^### (.+)$/gmu)].map((match) => match[1] ?? '').toSorted();
}

/** Returns the names of the members of an interface. */
function membersOf(path: string, name: string): readonly string[] {
  const body = new RegExp(`interface ${name} [^{]*\\{(.*?)^\\}`, 'msu').exec(read(path))?.[1] ?? '';
  return [...body.matchAll(/^ {2}readonly (\w+)\??: (.+);$/gmu)].map((match) => `${match[1]} ${match[2]}`).toSorted();
}

const isText = (member: string) => member.endsWith(' string');
const nameOf = (member: string) => member.split(' ')[0] ?? '';

test('settings.md has every setting of both Workers, every binding, and every variable of the command line', () => {
  const coordinator = [
    ...membersOf('src/objects/configuration.ts', 'CoordinatorConfig'),
    ...membersOf('src/objects/bindings/environment.ts', 'CoordinatorEnv'),
  ].toSorted();
  const cosigner = [
    ...membersOf('src/cosigner/configuration.ts', 'CosignerConfig'),
    ...membersOf('src/cosigner/api/object.ts', 'CosignerEnv'),
  ].toSorted();
  const bindings = [...coordinator, ...cosigner].filter((member) => !isText(member));
  const commandLine = files
    .filter((path) => path.startsWith('cli/'))
    .flatMap((path) => read(path).match(/\bCONCLAVE_[A-Z_]+\b/gu) ?? []);
  const settings = 'docs/settings.md';
  expect(coordinator.length + cosigner.length).toBeGreaterThan(30);
  expect(headingsUnder(settings, 'Coordinator')).toEqual(coordinator.filter(isText).map(nameOf));
  expect(headingsUnder(settings, 'Co-signer')).toEqual(cosigner.filter(isText).map(nameOf));
  expect(headingsUnder(settings, 'Bindings')).toEqual(bindings.map(nameOf).toSorted());
  expect(headingsUnder(settings, 'Command line')).toEqual([...new Set(commandLine)].toSorted());
});

test('runbook.md has every alert, and every event that the Workers log', () => {
  const runbook = textOf('docs/runbook.md');
  // An alert or an error has a section. A line of ordinary work has a row of a table.
  const headings = new Set([...runbook.matchAll(/^(?:### (.+)$|\| `([a-z]+)`)/gmu)].map(([, a, b]) => a ?? b ?? ''));
  const events = source
    .filter((path) => path.startsWith('src/'))
    .flatMap((path) => [...read(path).matchAll(/\bevent: '([a-z-]+)'/gu)].map((match) => match[1] ?? ''));
  expect(events.length).toBeGreaterThan(15);
  const expected = [...ALERT_CODES, ...LOGGED_ALERT_CODES, ...events.filter((event) => event !== 'alert')];
  expect(expected.filter((code) => !headings.has(code))).toEqual([]);
});

test('api.md has every problem code with its status, and no other code', () => {
  const written = [...textOf('docs/api.md').matchAll(/^- `([a-z-]+)` \((\d{3})\):/gmu)];
  const codes = [...read('src/http/encode/problems.ts').matchAll(/^ {2}'?([a-z-]+)'?: \[\s*(\d{3}),/gmu)];
  const lines = (matches: readonly RegExpMatchArray[]) =>
    matches.map(([, code, status]) => `${code} ${status}`).toSorted();
  expect(codes.length).toBeGreaterThan(60);
  expect(lines(written)).toEqual(lines(codes));
});

test('api.md has every reason of a transaction state', () => {
  const rooms = /^src\/(?:domain\/transaction|domain\/wallet|jobs\/signing|chains\/rpc)\/[\w-]+\.ts$/;
  const reasons = files
    .filter((path) => rooms.test(path))
    .flatMap((path) => read(path).match(/(?<=')[A-Z]+(?:_[A-Z]+)+(?=')/gu) ?? []);
  const written = new Set([...textOf('docs/api.md').matchAll(/^- `([A-Z_]+)`/gmu)].map((match) => match[1] ?? ''));
  expect(reasons.length).toBeGreaterThan(30);
  expect([...new Set(reasons)].filter((reason) => !written.has(reason) && reason !== 'CONTRACT_INTERACTION')).toEqual(
    [],
  );
});

test('chains.md has every built-in chain, with its confirmations', () => {
  const written = [...textOf('docs/chains.md').matchAll(/^\| `([a-z0-9-]+)` +\| [^|]+ \| (\w+) +\| (\d+) /gmu)];
  expect(written.map(([, name, symbol, confirmations]) => `${name} ${symbol} ${confirmations}`).toSorted()).toEqual(
    BUILT_IN_CHAINS.map((chain) => `${chain.name} ${chain.nativeSymbol} ${chain.confirmations}`).toSorted(),
  );
});

test('chains.md, monitors.md and settings.md have every provider of monitors, and no other one', () => {
  const [, table = ''] = textOf('docs/chains.md').split(/^\| Provider .*$/mu);
  const [rows = ''] = table.split('\n\n');
  const listed = [...rows.matchAll(/^\| `([a-z-]+)` /gmu)].map((match) => match[1] ?? '');
  const described = [...textOf('docs/monitors.md').matchAll(/^Provider: ([^.:]+)[.:]/gmu)]
    .flatMap(([, names = '']) => [...names.matchAll(/`([a-z-]+)`/gu)].map((match) => match[1] ?? ''))
    .filter((name) => !BUILT_IN_CHAINS.some((chain) => chain.name === name));
  const [, form = ''] = textOf('docs/settings.md').split(/`provider` is\s/u);
  const [permitted = ''] = form.split('.');
  const configurable = [...permitted.matchAll(/`([a-z-]+)`/gu)].map((match) => match[1] ?? '');
  const providers = Object.keys(MONITORS).toSorted();
  expect(listed.toSorted()).toEqual(providers);
  expect(described.toSorted()).toEqual(providers);
  expect(configurable.toSorted()).toEqual(providers);
});
