import * as z from 'zod';
import { rfc3339, rfc3339OrNull } from '#http/encode/rfc3339.ts';
import type { TokenView } from '#objects/token/access-token.ts';

const time = z.iso.datetime();

const accessTokenFields = {
  id: z.string(),
  name: z.string(),
  expiresAt: z.int().nullable().meta({ description: 'Unix seconds; null: the token does not expire' }),
  enabled: z.boolean(),
  createdAt: time,
  updatedAt: time,
  rotatedAt: time.nullable(),
  lastUsedAt: time.nullable(),
  previousValueUntil: time
    .nullable()
    .meta({ description: 'End of the period in which the value before the last rotation is accepted' }),
};
const token = z
  .string()
  .regex(/^service_pat_[0-9A-Za-z]{55}$/)
  .meta({ description: 'The token value, shown only once' });

export const accessTokenSchema = z.strictObject(accessTokenFields).meta({ id: 'AccessToken' });
export const accessTokenListSchema = z
  .strictObject({ tokens: z.array(accessTokenSchema) })
  .meta({ id: 'AccessTokenList' });
export const rotatedTokenSchema = z.strictObject({ ...accessTokenFields, token }).meta({ id: 'RotatedAccessToken' });
export const issuedTokenSchema = z
  .strictObject({ ...accessTokenFields, userId: z.string(), token })
  .meta({ id: 'IssuedAccessToken' });

/**
 * Returns the access token in the form of every endpoint: name, dates and status, and never its
 * value.
 */
export function accessTokenRecord(view: TokenView): z.infer<typeof accessTokenSchema> {
  return {
    id: view.id,
    name: view.name,
    expiresAt: view.expiresAt,
    enabled: view.enabled,
    createdAt: rfc3339(view.createdAtMs),
    updatedAt: rfc3339(view.updatedAtMs),
    rotatedAt: rfc3339OrNull(view.rotatedAtMs),
    lastUsedAt: rfc3339OrNull(view.lastUsedAtMs),
    previousValueUntil: rfc3339OrNull(view.previousUntilMs),
  };
}
