import { sessionObject } from '#http/edge/authenticate.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { endedSessionCookie } from '#http/edge/session-cookie.ts';

/**
 * DELETE /session: ends the session of the caller. It ends everywhere at once, open streams
 * included.
 */
export const endSession = route({
  method: 'DELETE',
  path: '/session',
  access: 'write',
  sessionOnly: true,
  summary: 'Log out',
  answer: { status: 204, schema: null },
  refuses: [],
  handle: end,
});

async function end(context: HttpContext): Promise<Response> {
  const { tokenId } = context.get('caller');
  await callObject(
    () => sessionObject(context, tokenId),
    (session) => session.end(),
  );
  return context.body(null, 204, { 'set-cookie': endedSessionCookie() });
}
