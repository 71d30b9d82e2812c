import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { endedSessionCookie } from '#http/edge/session-cookie.ts';
import { personStub } from '#objects/person/stub.ts';

const endAllQuery = z.strictObject({
  accessTokens: z
    .enum(['keep', 'end'])
    .optional()
    .meta({ description: '`end` also deletes the access tokens that were made in these sessions' }),
});

/**
 * DELETE /sessions: ends every session of the caller, including this one, before it responds.
 * Access tokens stay valid. With `accessTokens=end`, those that were made in these sessions are
 * deleted: a thief of a session may have made one.
 */
export const endAllSessions = route({
  method: 'DELETE',
  path: '/sessions',
  access: 'write',
  sessionOnly: true,
  summary: 'Log out of all sessions',
  query: endAllQuery,
  answer: { status: 204, schema: null },
  refuses: [],
  handle: async (context: HttpContext, { query }: Input<{ query: typeof endAllQuery }>) => {
    const { user, tokenId: sessionId } = context.get('caller');
    await callObject(
      () => personStub(context.env, user.id),
      (person) => person.endSessions({ userId: user.id, sessionId }, query.accessTokens === 'end'),
    );
    return context.body(null, 204, { 'set-cookie': endedSessionCookie() });
  },
});
