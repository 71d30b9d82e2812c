import * as z from 'zod';
import type { TokenGrant } from '#domain/access/token-grant.ts';
import { longestTokenDays, TOKEN_SCOPES, WHOLE_GRANT } from '#domain/access/token-grant.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { parseVaultId } from '#domain/id.ts';
import { DAY_MS } from '#domain/policy/rules.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { isSet, networkList } from '#http/encode/lists.ts';
import { plainText } from '#http/encode/plain-text.ts';

/** The name that the owner gives an access token. */
export const tokenName = plainText(100).refine((name) => name.trim() !== '', 'Must not be empty.');

/** Unix seconds, up to the year 9999: later dates have no common notation. */
export const tokenExpiry = z.int().positive().max(253_402_300_799);

const MAX_LISTED_VAULTS = 50;

/** The body of a new access token. Without restrictions it gives all the access of its owner. */
export const newTokenBody = z.strictObject({
  name: tokenName,
  expiresAt: tokenExpiry.nullish(),
  scopes: z.array(z.enum(TOKEN_SCOPES)).min(1).refine(isSet, 'Must not repeat a scope.').optional(),
  vaultIds: z
    .array(z.int().positive())
    .min(1)
    .max(MAX_LISTED_VAULTS)
    .refine(isSet, 'Must not repeat a vault.')
    .nullish(),
  allowedAddresses: networkList.nullish(),
});

/** Returns the grant that a body requests. */
export function grantOf({ scopes, vaultIds, allowedAddresses }: z.infer<typeof newTokenBody>): TokenGrant {
  return {
    scopes: scopes ?? WHOLE_GRANT.scopes,
    vaultIds: vaultIds?.flatMap((id) => parseVaultId(id) ?? []) ?? null,
    networks: allowedAddresses ?? null,
  };
}

/** Returns why a token may not end at a time (Unix seconds; null for never), or null. */
export function expiryFault(context: HttpContext, expiresAt: number | null): FieldFault | null {
  const nowMs = Date.now();
  const longest = longestTokenDays(context.env.MAX_TOKEN_DAYS);
  if (expiresAt !== null && expiresAt * 1000 <= nowMs) {
    const detail = 'Must be in the future. To end a token now, disable or delete it.';
    return { pointer: '/expiresAt', code: 'in-the-past', detail };
  }
  if (longest === null || (expiresAt !== null && expiresAt * 1000 <= nowMs + longest * DAY_MS)) return null;
  const detail = `Must be at most ${longest} days from now: the operator limits the life of tokens.`;
  return { pointer: '/expiresAt', code: 'too-late', detail };
}
