/** D1 allows a hundred parameters, and a query has some of its own. */
const KEYS_AT_ONCE = 80;

/** Returns the rows of any number of keys, with as many successive queries as needed. */
export async function inBatches<K, R>(
  keys: readonly K[],
  query: (some: readonly K[]) => PromiseLike<readonly R[]>,
): Promise<readonly R[]> {
  const found: R[] = [];
  for (const some of inGroups(keys, KEYS_AT_ONCE)) found.push(...(await query(some)));
  return found;
}

/** Returns successive groups of this size; the last one can be smaller. */
export function inGroups<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
