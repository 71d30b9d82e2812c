/** D1 takes a hundred parameters, and a query has some of its own. */
const KEYS_AT_ONCE = 80;

/** The rows of any number of keys: as many queries as it takes, one after the other. */
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
