import * as z from 'zod';
import { TOKEN_SCOPES } from '#domain/access/token-grant.ts';
import { rfc3339, rfc3339OrNull } from '#http/encode/rfc3339.ts';
import type { TokenView } from '#objects/token/access-token.ts';

const time = z.iso.datetime();

const client = z.string().nullable();

const accessTokenFields = {
  id: z.string(),
  name: z.string(),
  expiresAt: z.int().nullable().meta({ description: 'Unix seconds; null: the token does not expire' }),
  enabled: z.boolean(),
  createdAt: time,
  updatedAt: time,
  rotatedAt: time.nullable(),
  lastUsedAt: time.nullable(),
  lastUsedAddress: client.meta({ description: 'The address of the last request' }),
  lastUsedAgent: client.meta({ description: 'The User-Agent of the last request, which the client chooses' }),
  scopes: z.array(z.enum(TOKEN_SCOPES)),
  vaultIds: z.array(z.int()).nullable().meta({ description: 'The vaults that the token reaches; null: all of yours' }),
  allowedAddresses: z
    .array(z.string())
    .nullable()
    .meta({ description: 'The networks from which the token is accepted, in CIDR notation; null: any address' }),
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
    lastUsedAddress: view.lastClient?.address ?? null,
    lastUsedAgent: view.lastClient?.agent ?? null,
    scopes: [...view.scopes],
    vaultIds: view.vaultIds === null ? null : [...view.vaultIds],
    allowedAddresses: view.networks === null ? null : [...view.networks],
    previousValueUntil: rfc3339OrNull(view.previousUntilMs),
  };
}
