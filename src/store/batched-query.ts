/** D1 allows a hundred parameters, and a query has some of its own. */
const KEYS_AT_ONCE = 80;

/** Returns the rows of any number of keys, with as many successive queries as needed. */
export async function inBatches<K, R>(
  keys: readonly K[],
  query: (some: readonly K[]) => PromiseLike<readonly R[]>,
): Promise<readonly R[]> {
  const found: R[] = [];
  for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
    found.push(...(await query(keys.slice(start, start + KEYS_AT_ONCE))));
  }
  return found;
}
