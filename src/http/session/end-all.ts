import { SESSION_SECONDS } from '#domain/access/session.ts';
import { sessionObject } from '#http/edge/authenticate.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { endedSessionCookie } from '#http/edge/session-cookie.ts';
import { sessionsOf } from '#store/sessions.ts';

/**
 * DELETE /sessions: ends every session of the caller, including this one, before it responds.
 * Access tokens stay valid.
 */
export const endAllSessions = route({
  method: 'DELETE',
  path: '/sessions',
  access: 'write',
  sessionOnly: true,
  summary: 'Log out of all sessions',
  answer: { status: 204, schema: null },
  refuses: [],
  handle: endAll,
});

async function endAll(context: HttpContext): Promise<Response> {
  const { user, tokenId } = context.get('caller');
  const sinceMs = Date.now() - SESSION_SECONDS * 1000;
  for (const id of new Set([...(await sessionsOf(context.env.DB, user.id, sinceMs)), tokenId])) {
    await callObject(
      () => sessionObject(context, id),
      (session) => session.end(),
    );
  }
  return context.body(null, 204, { 'set-cookie': endedSessionCookie() });
}
