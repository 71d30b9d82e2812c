import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { releaseOf } from '#cli/approval-page-release.ts';
import { differingFiles, filesWithPath } from '#cli/release/comparison.ts';

const folder = mkdtempSync(join(tmpdir(), 'conclave-comparison-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the files of a build. Returns its folder. */
function written(name: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name, path)), { recursive: true });
    writeFileSync(join(folder, name, path), text);
  }
  return join(folder, name);
}

const BUILD = { 'dashboard/assets/index.js': 'const vaults = 1;', 'coordinator/worker.js': 'export {};' };

test('equal builds have the same list, with the files of every folder', () => {
  const list = releaseOf(written('first', BUILD));
  expect(list.split('\n').map((line) => line.slice(66))).toEqual([...Object.keys(BUILD).toReversed(), '']);
  expect(differingFiles(list, releaseOf(written('second', BUILD)))).toEqual([]);
});

test('a file with another byte is named once, and so is a file that one build lacks', () => {
  const list = releaseOf(written('complete', BUILD));
  const changed = releaseOf(written('changed', { ...BUILD, 'coordinator/worker.js': 'export {}; ' }));
  const longer = releaseOf(written('longer', { ...BUILD, 'cosigner/new file.wasm': '' }));
  expect(differingFiles(list, changed)).toEqual(['coordinator/worker.js']);
  expect(differingFiles(list, longer)).toEqual(['cosigner/new file.wasm']);
  expect(differingFiles(longer, list)).toEqual(['cosigner/new file.wasm']);
});

test('a file that contains a path of the machine is named', () => {
  const build = written('with path', { ...BUILD, 'coordinator/worker.js': '// /home/alice/conclave/src/worker.ts' });
  const list = releaseOf(build);
  expect(filesWithPath(build, list, ['/home/bob', '/home/alice/conclave'])).toEqual(['coordinator/worker.js']);
  expect(filesWithPath(build, list, ['/home/bob'])).toEqual([]);
});
