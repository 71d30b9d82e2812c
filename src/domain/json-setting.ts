/**
 * Returns the value of a JSON setting. Throws for invalid JSON, with the setting's name and without
 * its content: some settings are secrets.
 */
export function parseJsonSetting(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${name} must be JSON.`);
  }
}
