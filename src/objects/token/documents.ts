import * as z from 'zod';
import type { AccessToken, UserProfile } from '#domain/access/access-token.ts';
import type { Session } from '#domain/access/session.ts';
import { parseTokenId, parseUserId } from '#domain/id.ts';
import { documentCodec, exactly, parsed } from '#store/document.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const user = exactly<UserProfile>()({ id: parsed(parseUserId), name: z.string(), email: z.string() });

export const accessTokenCodec = documentCodec<AccessToken>(
  'access token',
  exactly<AccessToken>()({
    id: parsed(parseTokenId),
    user,
    name: z.string(),
    expiresAt: z.int().nullable(),
    enabled: z.boolean(),
    secretHash: hash,
    previous: z.object({ secretHash: hash, untilMs: z.int() }).nullable(),
    createdAtMs: z.int(),
    updatedAtMs: z.int(),
    rotatedAtMs: z.int().nullable(),
    deletedAtMs: z.int().nullable(),
    firstUsedAtMs: z.int().nullable(),
  }),
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
