/** Returns what a source file imports, types and dynamic imports included. */
export function importsOf(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:from|import)(?:\s+|\s*\(\s*)'([^']+)'/g)].flatMap((match) => match[1] ?? []);
}
