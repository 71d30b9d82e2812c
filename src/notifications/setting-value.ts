import type * as z from 'zod';
import { parseJsonSetting } from '#domain/json/json-setting.ts';

/**
 * Returns the value of a JSON setting by its schema, or null when it is empty. Throws for any other
 * form, with the names of the setting and of the field, and without the setting's content.
 */
export function settingValue<S extends z.ZodType>(
  name: string,
  schema: S,
  text: string | undefined,
): z.infer<S> | null {
  if (text === undefined || text.trim() === '') return null;
  const parsed = schema.safeParse(parseJsonSetting(name, text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.code === 'unrecognized_keys' ? issue.keys.join() : issue?.path.join('.');
  throw new Error(`${name}: The value of '${field}' is not valid.`);
}
