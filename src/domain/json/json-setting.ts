import { duplicateFields } from '#domain/json/duplicate-fields.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';

/** The text of each setting that was found to have no field twice. */
const CHECKED = new Map<string, string>();

/**
 * Returns the value of a JSON setting. Throws for invalid JSON and for a field that an object has
 * twice, with the setting's name and without its content: some settings are secrets.
 */
export function parseJsonSetting(name: string, text: string): unknown {
  const value = jsonIn(text);
  if (value === undefined) throw new Error(`${name} must be JSON.`);
  if (CHECKED.get(name) === text) return value;
  // JSON keeps the last one in silence, and the operator may have meant the first.
  if (duplicateFields(text).length > 0) throw new Error(`${name} must not have a field twice.`);
  CHECKED.set(name, text);
  return value;
}
