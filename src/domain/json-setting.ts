import { jsonIn } from '#domain/untrusted-json.ts';

/**
 * Returns the value of a JSON setting. Throws for invalid JSON, with the setting's name and without
 * its content: some settings are secrets.
 */
export function parseJsonSetting(name: string, text: string): unknown {
  const value = jsonIn(text);
  if (value === undefined) throw new Error(`${name} must be JSON.`);
  return value;
}
