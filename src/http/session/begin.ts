import type { UserProfile } from '#domain/access-token.ts';
import { SESSION_SECONDS } from '#domain/session.ts';
import { sessionObject } from '#http/authenticate.ts';
import type { HttpContext } from '#http/context.ts';
import { newSecret, newTokenId } from '#http/credential-value.ts';
import { askObject } from '#http/object-call.ts';
import { sessionCookie } from '#http/session-cookie.ts';
import { enterSession } from '#store/sessions.ts';

/**
 * A session for a person who has proven to be one. It is in the list of that person's sessions before it opens anything, so that whoever logs
 * out everywhere logs out of all of them.
 */
export async function beginSession(context: HttpContext, user: UserProfile) {
  const [id, secret] = [newTokenId(), newSecret('session')];
  await enterSession(context.env.DB, { id, userId: user.id, createdAtMs: Date.now() });
  const createdAtMs = await askObject(
    () => sessionObject(context, id),
    (stub) => stub.create({ id, user, secretHash: secret.hash }),
  );
  const cookie = sessionCookie(secret.valueFor(id, context.env.TOKEN_MAC_KEY));
  return { id, cookie, createdAtMs, endsAtMs: createdAtMs + SESSION_SECONDS * 1000 };
}
