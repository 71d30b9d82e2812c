import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** What a run bundles at its start, and what its test files read later. */
const SOURCES = ['src/**/*.*', 'cli/**/*.*', 'local/**/*.*', 'migrations/**/*.*', 'deploy/*.*', 'wrangler.toml'];

/** The hash of the sources of a run, for its test files. */
export const RUN_SOURCES = 'CONCLAVE_TEST_SOURCES';

export class SourcesChanged extends Error {
  constructor() {
    super('Sources changed during the run: its bundles are older than what this file reads. Start the run again.');
  }
}

/**
 * The state of the files at the last comparison in this process, without their content, by folder.
 */
const compared = new Map<string, string>();

/** Returns the hash of all sources. */
export function hashOfSources(root: string = ROOT): string {
  const hash = createHash('sha256');
  for (const path of pathsOfSources(root)) hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

/**
 * Throws `SourcesChanged` when the sources are not those of the start of the run. The content is
 * read only when a file has another size or time than at the last comparison.
 */
export function holdSources(expected: string | undefined, root: string = ROOT): void {
  if (expected === undefined) return;
  const state = stateOfSources(root);
  if (compared.get(root) === state) return;
  if (hashOfSources(root) !== expected) throw new SourcesChanged();
  compared.set(root, state);
}

function stateOfSources(root: string): string {
  const states = pathsOfSources(root).map((path) => {
    const { size, mtimeMs, ctimeMs } = statSync(join(root, path));
    return `${path} ${size} ${mtimeMs} ${ctimeMs}`;
  });
  return states.join('\n');
}

function pathsOfSources(root: string): readonly string[] {
  return SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted();
}
