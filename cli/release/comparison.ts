import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the names of the files that differ, or that only one of two lists of hashes has. */
export function differingFiles(first: string, second: string): readonly string[] {
  const [ours, theirs] = [first.split('\n'), second.split('\n')];
  const differing = [
    ...ours.filter((line) => !theirs.includes(line)),
    ...theirs.filter((line) => !ours.includes(line)),
  ];
  return [...new Set(differing.map(nameOf))];
}

/** Returns the names of the files in a list of hashes whose bytes contain one of the paths. */
export function filesWithPath(folder: string, list: string, paths: readonly string[]): readonly string[] {
  const names = list.trimEnd().split('\n').map(nameOf);
  return names.filter((name) => {
    const bytes = readFileSync(join(folder, name));
    return paths.some((path) => bytes.includes(path));
  });
}

/** Returns the name in a line of the form of sha256sum. */
function nameOf(line: string): string {
  return line.slice(line.indexOf('  ') + 2);
}
