import * as z from 'zod';
import type { ServiceKey } from '#domain/operations/service-key.ts';
import { SERVICE_SCOPES } from '#domain/operations/service-key.ts';
import { parseJsonSetting } from '#domain/json/json-setting.ts';
import { isSet, networkList } from '#http/encode/lists.ts';

const NAME = 'SERVICE_KEY_HASHES';

const keysSetting = z
  .array(
    z.strictObject({
      hash: z.string().regex(/^[0-9a-f]{64}$/),
      scopes: z.array(z.enum(SERVICE_SCOPES)).min(1).refine(isSet),
      addresses: networkList.optional(),
    }),
  )
  // Of two entries for one key, the wider one would hold without notice.
  .refine((keys) => isSet(keys.map(({ hash }) => hash)), { path: ['hash'] });

/**
 * Returns the service keys of the setting: a JSON array, or hashes with commas of keys that have
 * every scope. Throws for JSON of another form, without the setting's content. An entry of the
 * second form that is no hash matches no key.
 *
 * @param setting SERVICE_KEY_HASHES
 */
export function serviceKeysFrom(setting: string): readonly ServiceKey[] {
  // No hash begins with one of these, so an array with a fault is never read as a list of hashes.
  if (!/^\s*[[{]/.test(setting)) {
    return setting.split(',').map((hash) => ({ hash: hash.trim(), scopes: SERVICE_SCOPES, networks: null }));
  }
  const parsed = keysSetting.safeParse(parseJsonSetting(NAME, setting));
  if (!parsed.success) {
    throw new Error(`${NAME}: '${parsed.error.issues[0]?.path.join('.') ?? ''}' must have the documented form.`);
  }
  return parsed.data.map(({ hash, scopes, addresses = null }) => ({ hash, scopes, networks: addresses }));
}
