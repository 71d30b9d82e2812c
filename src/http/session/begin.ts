import type { UserProfile } from '#domain/access/access-token.ts';
import { SESSION_SECONDS } from '#domain/access/session.ts';
import { sessionObject } from '#http/edge/authenticate.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { newSecret, newTokenId } from '#http/edge/credential-value.ts';
import { callObject } from '#http/edge/object-call.ts';
import { sessionCookie } from '#http/edge/session-cookie.ts';
import { insertSession } from '#store/sessions.ts';

/**
 * Creates a session for a user whom an identity provider has authenticated. Returns the value of
 * the Set-Cookie header.
 */
export async function beginSession(context: HttpContext, user: UserProfile): Promise<string> {
  const { id, secretHash, cookie } = await newSession(context, user);
  const createdAtMs = await callObject(
    () => sessionObject(context, id),
    (stub) => stub.create({ id, user, secretHash }),
  );
  if (createdAtMs === null) throw new Error('a new session is not created, because it was withdrawn');
  return cookie;
}

/**
 * Returns a session that is not yet created. It enters the list of the user's sessions before it
 * gives access to anything, so that a logout of all sessions ends every one.
 */
export async function newSession(context: HttpContext, user: UserProfile) {
  const [id, secret] = [newTokenId(), newSecret('session')];
  await insertSession(context.env.DB, { id, userId: user.id, createdAtMs: Date.now() });
  const cookie = sessionCookie(secret.valueFor(id, context.env.TOKEN_MAC_KEY));
  return { id, secretHash: secret.hash, cookie };
}

export function sessionEndsAtMs(createdAtMs: number): number {
  return createdAtMs + SESSION_SECONDS * 1000;
}
