import * as z from 'zod';
import { SESSION_SECONDS } from '#domain/access/session.ts';
import type { TokenId, UserId, VaultId } from '#domain/id.ts';
import { callObject } from '#http/edge/object-call.ts';
import { sessionObject } from '#http/edge/authenticate.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { rfc3339, rfc3339OrNull } from '#http/encode/rfc3339.ts';
import { tokenObject } from '#http/personal-access-token/own-token.ts';
import { accessTokenRecord } from '#http/personal-access-token/record.ts';
import { sessionEndsAtMs } from '#http/session/begin.ts';
import { tokensOf } from '#store/access-tokens.ts';
import { sessionsOf } from '#store/sessions.ts';

const time = z.iso.datetime();

export const credentialSchema = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['access-token', 'session']),
    name: z.string().nullable().meta({ description: 'The name that its owner gave a token; null for a session' }),
    createdAt: time,
    endsAt: time.nullable().meta({ description: 'Latest end; null: none' }),
    enabled: z.boolean().meta({ description: 'False for a token that its owner has disabled' }),
    lastUsedAt: time.nullable(),
    lastUsedAddress: z.string().nullable(),
    lastUsedAgent: z.string().nullable().meta({ description: 'As the client names itself' }),
    scopes: z.array(z.string()).nullable().meta({ description: 'Null for a session, which has no limits' }),
    vaultIds: z.array(z.int()).nullable().meta({ description: 'The vaults that it reaches; null: all of its owner' }),
  })
  .meta({ id: 'Credential' });

export type Credential = z.infer<typeof credentialSchema>;

/**
 * Returns the tokens and the open sessions of a user, newest first. The directory lists the ids,
 * and each object returns its state.
 *
 * @param vaultId leaves out tokens that do not reach this vault; null for all
 */
export async function credentialsOf(
  context: HttpContext,
  userId: UserId,
  vaultId: VaultId | null,
): Promise<readonly Credential[]> {
  const [tokenIds, sessionIds] = await Promise.all([tokensOf(context.env.DB, userId), sessionIdsOf(context, userId)]);
  const read = await Promise.all([
    ...tokenIds.map((id) => readToken(context, userId, id)),
    ...sessionIds.map((id) => readSession(context, id)),
  ]);
  const reaching = read.filter((one) => one !== null).filter((one) => reachesVault(one, vaultId));
  return reaching.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
}

/** Returns one of them; null when the user has no such token or open session. */
export async function credentialOf(
  context: HttpContext,
  { userId, id }: { readonly userId: UserId; readonly id: TokenId },
  vaultId: VaultId | null,
): Promise<Credential | null> {
  const token = await readToken(context, userId, id);
  // The object of a session does not say whose it is, and the directory does.
  const isSession = token === null && (await sessionIdsOf(context, userId)).includes(id);
  const found = isSession ? await readSession(context, id) : token;
  return found !== null && reachesVault(found, vaultId) ? found : null;
}

function sessionIdsOf({ env }: HttpContext, userId: UserId): Promise<readonly TokenId[]> {
  return sessionsOf(env.DB, userId, Date.now() - SESSION_SECONDS * 1000);
}

function reachesVault({ vaultIds }: Credential, vaultId: VaultId | null): boolean {
  return vaultId === null || vaultIds === null || vaultIds.includes(vaultId);
}

async function readToken(context: HttpContext, userId: UserId, id: TokenId): Promise<Credential | null> {
  const read = await callObject(
    () => tokenObject(context, id),
    (token) => token.read(userId),
  );
  return read.ok ? tokenCredential(accessTokenRecord(read.value)) : null;
}

async function readSession(context: HttpContext, id: TokenId): Promise<Credential | null> {
  const session = await callObject(
    () => sessionObject(context, id),
    (stub) => stub.read(),
  );
  return session === null ? null : sessionCredential(session);
}

function tokenCredential(token: ReturnType<typeof accessTokenRecord>): Credential {
  const { id, name, createdAt, enabled, lastUsedAt, lastUsedAddress, lastUsedAgent, scopes, vaultIds } = token;
  const endsAt = token.expiresAt === null ? null : rfc3339(token.expiresAt * 1000);
  const used = { lastUsedAt, lastUsedAddress, lastUsedAgent };
  return { id, kind: 'access-token', name, createdAt, endsAt, enabled, ...used, scopes, vaultIds };
}

type OpenSession = NonNullable<Awaited<ReturnType<ReturnType<typeof sessionObject>['read']>>>;

function sessionCredential({ id, createdAtMs, lastUsedAtMs, lastClient }: OpenSession): Credential {
  return {
    id,
    kind: 'session',
    name: null,
    createdAt: rfc3339(createdAtMs),
    endsAt: rfc3339(sessionEndsAtMs(createdAtMs)),
    enabled: true,
    lastUsedAt: rfc3339OrNull(lastUsedAtMs),
    lastUsedAddress: lastClient?.address ?? null,
    lastUsedAgent: lastClient?.agent ?? null,
    scopes: null,
    vaultIds: null,
  };
}
