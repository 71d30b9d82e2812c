import * as z from 'zod';
import type { HttpContext } from '#http/context.ts';
import { route } from '#http/context.ts';
import { problem } from '#http/problem.ts';
import { beginSession } from '#http/session/begin.ts';
import { timeText } from '#http/time-text.ts';
import { findUser } from '#store/users.ts';

const sessionSchema = z
  .strictObject({
    id: z.string(),
    userId: z.string(),
    cookie: z.string().meta({ description: 'For the Set-Cookie header of whoever has logged the person in' }),
    createdAt: z.iso.datetime(),
    endsAt: z.iso.datetime().meta({ description: 'At the latest; two hours without a request end it as well' }),
  })
  .meta({ id: 'IssuedSession' });

/**
 * POST /internal/user/{userId}/session (ours): a session for a person whom an internal service has logged in (spec part 5: cookies are set
 * during the login). Its cookie is in this answer and nowhere else.
 *
 * Refuses, in order: the service key, `user-not-found`.
 */
export const createSession = route({
  method: 'POST',
  path: '/internal/user/:userId/session',
  access: 'service',
  summary: 'a session for a person who is logged in',
  answer: { status: 201, schema: sessionSchema },
  refuses: ['user-not-found'],
  handle: issue,
});

async function issue(context: HttpContext): Promise<Response> {
  const user = await findUser(context.env.DB, context.req.param('userId') ?? '');
  if (user === null) return problem(context, 'user-not-found', { detail: 'There is no user with this id.' });
  const { id, cookie, createdAtMs, endsAtMs } = await beginSession(context, user);
  const [createdAt, endsAt] = [timeText(createdAtMs), timeText(endsAtMs)];
  return context.json({ id, userId: user.id, cookie, createdAt, endsAt }, 201);
}
