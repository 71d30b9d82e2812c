import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the possible paths of a program on the PATH, in its order. */
export function filesOnPath(program: string): readonly string[] {
  const searchPath: string = process.env['PATH'] ?? '';
  return searchPath.split(delimiter).map((folder) => join(folder, program));
}

/** Returns the first of these files that is executable, or null. */
export function firstExecutable(files: readonly string[]): string | null {
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
