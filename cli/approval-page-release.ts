import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `npm run approval-page:hash`: builds the approval page and prints the SHA-256 of each of its
 * files, and the release hash, which is the SHA-256 of that list. `-- --write` stores the list as
 * the release, in release.txt.
 *
 * The list has the form of `sha256sum`, so a reader can compare a served page with a release
 * without this program.
 */

export const APPROVAL_PAGE = resolve(import.meta.dirname, '..', 'dist', 'approval-page');
export const RELEASE = resolve(import.meta.dirname, '..', 'src', 'approval-page', 'release.txt');

/**
 * Returns one line for each file of a build, sorted by its path. Files that an operator adds are
 * not part of it.
 */
export function releaseOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  const released = names.filter((name) => name !== 'allowed-origins.json');
  const lines = released.toSorted().map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`);
  return lines.join('');
}

/** Returns the headers that a static host reads from `_headers`, for every path. */
export function headersIn(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => line.startsWith('  '));
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.trim().split(': ');
      return [name, value.join(': ')];
    }),
  );
}

/** Returns the one hash that a release publishes. */
export function releaseHash(release: string): string {
  return sha256(release);
}

/** Returns the hash of a file, as the list of the release has it. */
export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
  const release = releaseOf(APPROVAL_PAGE);
  if (values.write) writeFileSync(RELEASE, release);
  process.stdout.write(`${release}\nrelease hash: ${releaseHash(release)}\n`);
}
