/** A setting that is JSON. Throws for one that is none, with its name and without what stands in it: some settings are secrets. */
export function parseJsonSetting(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${name} must be JSON.`);
  }
}
