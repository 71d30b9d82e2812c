import * as z from 'zod';
import type { AccessToken, UserProfile } from '#domain/access/access-token.ts';
import { isNetwork } from '#domain/access/client-address.ts';
import type { Session } from '#domain/access/session.ts';
import { TOKEN_SCOPES } from '#domain/access/token-grant.ts';
import type { VaultId } from '#domain/id.ts';
import { parseTokenId, parseUserId, parseVaultId } from '#domain/id.ts';
import { documentCodec, exactly, parsed } from '#store/document.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const vaultId = z.custom<VaultId>((value) => typeof value === 'number' && parseVaultId(value) === value);
const user = exactly<UserProfile>()({ id: parsed(parseUserId), name: z.string(), email: z.string() });

/** Version 2 has the grant, and version 3 the suspension and the session in which it was made. */
const ACCESS_TOKEN_VERSION = 3;

export const accessTokenCodec = documentCodec<AccessToken>(
  'access token',
  exactly<AccessToken>()({
    id: parsed(parseTokenId),
    user,
    name: z.string(),
    expiresAt: z.int().nullable(),
    enabled: z.boolean(),
    isSuspended: z.boolean(),
    madeIn: parsed(parseTokenId).nullable(),
    secretHash: hash,
    previous: z.object({ secretHash: hash, untilMs: z.int() }).nullable(),
    createdAtMs: z.int(),
    updatedAtMs: z.int(),
    rotatedAtMs: z.int().nullable(),
    deletedAtMs: z.int().nullable(),
    firstUsedAtMs: z.int().nullable(),
    scopes: z.array(z.enum(TOKEN_SCOPES)),
    vaultIds: z.array(vaultId).nullable(),
    networks: z.array(z.string().refine(isNetwork)).nullable(),
  }),
  ACCESS_TOKEN_VERSION,
);

export const sessionCodec = documentCodec<Session>(
  'session',
  exactly<Session>()({
    id: parsed(parseTokenId),
    user,
    secretHash: hash,
    createdAtMs: z.int(),
    endedAtMs: z.int().nullable(),
    firstUsedAtMs: z.int().nullable(),
  }),
);
