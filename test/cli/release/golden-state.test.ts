import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changedFiles, git, trackedFiles } from '#cli/release/checkout.ts';
import { goldenStateFaults } from '#cli/release/golden-state.ts';

const checkout = mkdtempSync(join(tmpdir(), 'conclave-golden-state-'));
const states = join(checkout, 'test', 'states', '0.2.0');
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

beforeAll(() => {
  git(checkout, 'init', '--quiet');
  mkdirSync(states, { recursive: true });
  writeFileSync(join(states, 'golden.json'), '{}');
  commitAll();
});

function commitAll(): void {
  git(checkout, 'add', '--all');
  const author = ['-c', 'user.name=alice', '-c', 'user.email=alice@example.com', '-c', 'commit.gpgSign=false'];
  git(checkout, ...author, 'commit', '--quiet', '--message', 'Record a golden state');
}

test('a golden state must be committed whole, for the version, and be unchanged', () => {
  const missing = 'is not committed; make it with `npm run state -- record`';
  expect(goldenStateFaults(checkout, '0.2.0')).toEqual([`test/states/0.2.0/state.tar.br ${missing}`]);
  expect(goldenStateFaults(checkout, '0.3.0')).toEqual([
    `test/states/0.3.0/golden.json ${missing}`,
    `test/states/0.3.0/state.tar.br ${missing}`,
  ]);

  // A file that is only in the work tree, or only added, is not in the commit.
  writeFileSync(join(states, 'state.tar.br'), 'state');
  git(checkout, 'add', '--all');
  expect(goldenStateFaults(checkout, '0.2.0')).toEqual([`test/states/0.2.0/state.tar.br ${missing}`]);

  commitAll();
  expect(goldenStateFaults(checkout, '0.2.0')).toEqual([]);
  expect(changedFiles(checkout)).toEqual([]);

  writeFileSync(join(states, 'golden.json'), '{"vaults":1}');
  expect(goldenStateFaults(checkout, '0.2.0')).toEqual([
    'test/states/0.2.0/golden.json differs from the commit; restore it with `git checkout test/states/0.2.0/golden.json`',
  ]);
  expect(changedFiles(checkout)).toEqual(['test/states/0.2.0/golden.json']);
});

test('the copy for the second build has no file that Git does not track, and none that was removed', () => {
  writeFileSync(join(checkout, 'untracked.ts'), '');
  expect(trackedFiles(checkout)).toEqual(['test/states/0.2.0/golden.json', 'test/states/0.2.0/state.tar.br']);
  rmSync(join(states, 'state.tar.br'));
  expect(trackedFiles(checkout)).toEqual(['test/states/0.2.0/golden.json']);
});
