import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

export const PROJECT = resolve(import.meta.dirname, '..', '..');

/**
 * Returns the paths of all project files from its top. Files that are not committed yet are
 * included; files that Git ignores are not.
 */
export function projectFiles(): readonly string[] {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const paths = execFileSync('git', list, { cwd: PROJECT, encoding: 'utf8' }).trim().split('\n');
  return [...new Set(paths)].filter((path) => existsSync(resolve(PROJECT, path)));
}
