import { posix } from 'node:path';
import type { SourceFile } from './house.ts';
import { importsOf } from './imports.ts';

/**
 * Returns the import cycles of the source, type imports included. The files of a cycle can only be
 * understood together.
 */

const ROOTS: Readonly<Record<string, string>> = { local: 'local', cli: 'cli' };

/** Returns the path of an imported file, or null for a package. */
function importedPath(from: string, target: string): string | null {
  if (target.startsWith('.')) return posix.join(posix.dirname(from), target);
  const [, room = '', rest = ''] = /^#([a-z-]+)\/(.+)$/.exec(target) ?? [];
  return room === '' ? null : `${ROOTS[room] ?? `src/${room}`}/${rest}`;
}

function importGraph(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(files.map(({ path }) => path));
  return new Map(
    files.map(({ path, text }) => {
      const imported = importsOf(text)
        .map((target) => importedPath(path, target))
        .filter((one) => one !== null);
      return [path, [...new Set(imported)].filter((one) => known.has(one))];
    }),
  );
}

/** Returns one cycle through each group of files that reach each other, as `a -> b -> a`. */
export function importCycles(files: readonly SourceFile[]): readonly string[] {
  const graph = importGraph(files);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.push([...trail.slice(start), path].join(' -> '));
    if (start !== -1 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return cycles;
}
