import type { UserProfile } from '#domain/access/access-token.ts';
import { SESSION_SECONDS } from '#domain/access/session.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { newSecret, newTokenId } from '#http/edge/credential-value.ts';
import { callObject } from '#http/edge/object-call.ts';
import { sessionCookie } from '#http/edge/session-cookie.ts';
import { personStub } from '#objects/person/stub.ts';

/**
 * Creates a session for a user whom an identity provider has authenticated. Returns the value of
 * the Set-Cookie header. Refuses `user-disabled`.
 */
export async function beginSession(context: HttpContext, user: UserProfile): Promise<Result<string, Refusal>> {
  const { id, secretHash, cookie } = newSession(context);
  const begun = await callObject(
    () => personStub(context.env, user.id),
    (person) => person.logIn({ id, user, secretHash }),
  );
  return begun.ok ? accepted(cookie) : begun;
}

/** Returns a session that is not yet created. */
export function newSession(context: HttpContext) {
  const [id, secret] = [newTokenId(), newSecret('session')];
  const cookie = sessionCookie(secret.valueFor(id, context.env.TOKEN_MAC_KEY));
  return { id, secretHash: secret.hash, cookie };
}

export function sessionEndsAtMs(createdAtMs: number): number {
  return createdAtMs + SESSION_SECONDS * 1000;
}
