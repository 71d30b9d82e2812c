import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the output of Git in a checkout. */
export function git(checkout: string, ...order: readonly string[]): string {
  return execFileSync('git', order, { cwd: checkout, encoding: 'utf8' });
}

export function headCommit(checkout: string): string {
  return git(checkout, 'rev-parse', 'HEAD').trim();
}

/** Returns the tracked files that exist. */
export function trackedFiles(checkout: string): readonly string[] {
  const names = git(checkout, 'ls-files', '-z').split('\0');
  return names.filter((name) => name !== '' && existsSync(join(checkout, name)));
}

/**
 * Returns the files that differ from the commit. Files that Git does not track are left out: the
 * second build of a release has none of them, so one that changes a byte is found there.
 */
export function changedFiles(checkout: string): readonly string[] {
  return git(checkout, 'diff', '--name-only', '-z', 'HEAD')
    .split('\0')
    .filter((name) => name !== '');
}
